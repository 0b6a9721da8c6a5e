-- Made by Tests/ForeignSchemas/make with Alembic 1.20.1 with SQLAlchemy 2.1.9, and written by pg_dump --inserts.
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
CREATE TABLE public.account (
    id integer NOT NULL,
    email character varying(120) NOT NULL,
    name character varying(60) DEFAULT 'nobody'::character varying NOT NULL,
    is_admin boolean DEFAULT false NOT NULL,
    score double precision,
    exact double precision,
    balance numeric(12,2) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp without time zone,
    birthday date,
    settings json,
    token uuid,
    picture bytea,
    CONSTRAINT balance_is_positive CHECK ((balance >= (0)::numeric))
);
CREATE SEQUENCE public.account_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.account_id_seq OWNED BY public.account.id;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.entry (
    id bigint NOT NULL,
    account_id integer NOT NULL,
    "position" smallint NOT NULL,
    text text NOT NULL,
    length integer GENERATED ALWAYS AS (length(text)) STORED
);
ALTER TABLE public.entry ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.label (
    entry_id bigint NOT NULL,
    label character varying(20) NOT NULL
);
ALTER TABLE ONLY public.account ALTER COLUMN id SET DEFAULT nextval('public.account_id_seq'::regclass);
INSERT INTO public.account VALUES (1, 'ada@example.com', 'Ada', true, 4.5, 0.1, 12.50, '2024-05-17 12:30:15.25+00', '2024-05-18 00:00:00', '1815-12-10', '{"theme": "dark", "sizes": [1, 2]}', '7d444840-9dc0-11d1-b245-5ffdce74fad2', '\x00ff');
INSERT INTO public.alembic_version VALUES ('0f3c2a9d7b11');
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 'it''s “here”', DEFAULT);
INSERT INTO public.label VALUES (1, 'new');
SELECT pg_catalog.setval('public.account_id_seq', 1, false);
SELECT pg_catalog.setval('public.entry_id_seq', 1, true);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_token_key UNIQUE (token);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.label
    ADD CONSTRAINT label_pkey PRIMARY KEY (entry_id, label);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT uq_account_email UNIQUE (email);
ALTER TABLE ONLY public.entry
    ADD CONSTRAINT uq_entry_position UNIQUE (account_id, "position");
CREATE INDEX ix_account_name ON public.account USING btree (name);
CREATE INDEX ix_entry_open ON public.entry USING btree (account_id) WHERE ("position" > 0);
ALTER TABLE ONLY public.entry
    ADD CONSTRAINT entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.label
    ADD CONSTRAINT label_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES public.entry(id);
