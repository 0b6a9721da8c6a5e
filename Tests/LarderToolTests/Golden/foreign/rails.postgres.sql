-- Made by Tests/ForeignSchemas/make with ActiveRecord 6.1.7.10, and written by pg_dump --inserts.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.ar_internal_metadata (
    key character varying NOT NULL,
    value character varying,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE public.customers (
    id bigint NOT NULL,
    email character varying NOT NULL,
    name character varying(80) DEFAULT ''::character varying NOT NULL,
    active boolean DEFAULT true NOT NULL,
    credit numeric(10,2),
    rating double precision,
    born_on date,
    visits integer DEFAULT 0 NOT NULL,
    points bigint,
    notes text,
    avatar bytea,
    settings json,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE SEQUENCE public.customers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.customers_id_seq OWNED BY public.customers.id;
CREATE TABLE public.followers (
    order_id bigint NOT NULL,
    customer_id bigint NOT NULL
);
CREATE TABLE public.orders (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    number character varying NOT NULL,
    shipped_at timestamp without time zone,
    lock_version integer DEFAULT 0 NOT NULL,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE SEQUENCE public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;
CREATE TABLE public.schema_migrations (
    version character varying NOT NULL
);
ALTER TABLE ONLY public.customers ALTER COLUMN id SET DEFAULT nextval('public.customers_id_seq'::regclass);
ALTER TABLE ONLY public.orders ALTER COLUMN id SET DEFAULT nextval('public.orders_id_seq'::regclass);
INSERT INTO public.ar_internal_metadata VALUES ('environment', 'production', '2024-05-17 12:30:15.25', '2024-05-17 12:30:15.25');
INSERT INTO public.customers VALUES (1, 'ada@example.com', 'Ada', true, 12.50, 4.5, '1815-12-10', 0, 9007199254740993, 'it''s “here”', '\x00ff', '{"theme":"dark","sizes":[1,2]}', '2024-05-17 12:30:15.25', '2024-05-17 12:30:15.25');
INSERT INTO public.customers VALUES (2, 'bob@example.com', '', true, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, '2024-05-17 12:30:15.25', '2024-05-17 12:30:15.25');
INSERT INTO public.orders VALUES (1, 1, 'A1', '2024-05-17 12:30:15.25', 0, '2024-05-17 12:30:15.25', '2024-05-17 12:30:15.25');
INSERT INTO public.schema_migrations VALUES ('20240517123015');
SELECT pg_catalog.setval('public.customers_id_seq', 2, true);
SELECT pg_catalog.setval('public.orders_id_seq', 1, true);
ALTER TABLE ONLY public.ar_internal_metadata
    ADD CONSTRAINT ar_internal_metadata_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
CREATE UNIQUE INDEX index_customers_on_email ON public.customers USING btree (email);
CREATE INDEX index_orders_on_customer_id ON public.orders USING btree (customer_id);
CREATE UNIQUE INDEX index_orders_on_customer_id_and_number ON public.orders USING btree (customer_id, number);
CREATE INDEX shipped_orders ON public.orders USING btree (shipped_at) WHERE (shipped_at IS NOT NULL);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT fk_rails_3dad120da9 FOREIGN KEY (customer_id) REFERENCES public.customers(id) ON DELETE CASCADE;
