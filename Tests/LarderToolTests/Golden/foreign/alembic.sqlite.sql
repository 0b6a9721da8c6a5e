-- Made by Tests/ForeignSchemas/make with Alembic 1.20.1 with SQLAlchemy 2.1.9, and written by sqlite3's .dump.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES('0f3c2a9d7b11');
CREATE TABLE account (
	id INTEGER NOT NULL, 
	email VARCHAR(120) NOT NULL, 
	name VARCHAR(60) DEFAULT 'nobody' NOT NULL, 
	is_admin BOOLEAN DEFAULT 0 NOT NULL, 
	score FLOAT, 
	exact DOUBLE, 
	balance NUMERIC(12, 2) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME, 
	birthday DATE, 
	settings JSON, 
	token CHAR(32), 
	picture BLOB, 
	PRIMARY KEY (id), 
	CONSTRAINT balance_is_positive CHECK (balance >= 0), 
	CONSTRAINT uq_account_email UNIQUE (email), 
	UNIQUE (token)
);
INSERT INTO account VALUES(1,'ada@example.com','Ada',1,4.5,0.10000000000000000555,12.5,'2024-05-17 12:30:15.250000','2024-05-18 00:00:00.000000','1815-12-10','{"theme": "dark", "sizes": [1, 2]}','7d4448409dc011d1b2455ffdce74fad2',X'00ff');
CREATE TABLE entry (
	id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	position SMALLINT NOT NULL, 
	text TEXT NOT NULL, 
	length INTEGER GENERATED ALWAYS AS (length(text)) STORED, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_entry_position UNIQUE (account_id, position), 
	FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
INSERT INTO entry VALUES(1,1,1,'it''s “here”');
CREATE TABLE label (
	entry_id BIGINT NOT NULL, 
	label VARCHAR(20) NOT NULL, 
	PRIMARY KEY (entry_id, label), 
	FOREIGN KEY(entry_id) REFERENCES entry (id)
);
INSERT INTO label VALUES(1,'new');
CREATE INDEX ix_account_name ON account (name);
CREATE INDEX ix_entry_open ON entry (account_id) WHERE position > 0;
COMMIT;
