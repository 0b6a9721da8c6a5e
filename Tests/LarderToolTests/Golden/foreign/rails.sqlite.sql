-- Made by Tests/ForeignSchemas/make with ActiveRecord 6.1.7.10, and written by sqlite3's .dump.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
INSERT INTO schema_migrations VALUES('20240517123015');
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
INSERT INTO ar_internal_metadata VALUES('environment','production','2024-05-17 12:30:15.250000','2024-05-17 12:30:15.250000');
CREATE TABLE IF NOT EXISTS "customers" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar NOT NULL, "name" varchar(80) DEFAULT '' NOT NULL, "active" boolean DEFAULT 1 NOT NULL, "credit" decimal(10,2), "rating" float, "born_on" date, "visits" integer DEFAULT 0 NOT NULL, "points" bigint, "notes" text, "avatar" blob, "settings" json, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
INSERT INTO customers VALUES(1,'ada@example.com','Ada',1,12.5,4.5,'1815-12-10',0,9007199254740993,'it''s “here”',X'00ff','{"theme":"dark","sizes":[1,2]}','2024-05-17 12:30:15.250000','2024-05-17 12:30:15.250000');
INSERT INTO customers VALUES(2,'bob@example.com','',1,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'2024-05-17 12:30:15.250000','2024-05-17 12:30:15.250000');
CREATE TABLE IF NOT EXISTS "orders" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "customer_id" integer NOT NULL, "number" varchar NOT NULL, "shipped_at" datetime, "lock_version" integer DEFAULT 0 NOT NULL, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL, CONSTRAINT "fk_rails_3dad120da9"
FOREIGN KEY ("customer_id")
  REFERENCES "customers" ("id")
 ON DELETE CASCADE);
INSERT INTO orders VALUES(1,1,'A1','2024-05-17 12:30:15.250000',0,'2024-05-17 12:30:15.250000','2024-05-17 12:30:15.250000');
CREATE TABLE IF NOT EXISTS "followers" ("order_id" integer NOT NULL, "customer_id" integer NOT NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('customers',2);
INSERT INTO sqlite_sequence VALUES('orders',1);
CREATE UNIQUE INDEX "index_customers_on_email" ON "customers" ("email");
CREATE INDEX "index_orders_on_customer_id" ON "orders" ("customer_id");
CREATE UNIQUE INDEX "index_orders_on_customer_id_and_number" ON "orders" ("customer_id", "number");
CREATE INDEX "shipped_orders" ON "orders" ("shipped_at") WHERE shipped_at IS NOT NULL;
COMMIT;
