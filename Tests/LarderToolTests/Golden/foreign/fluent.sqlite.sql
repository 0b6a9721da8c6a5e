-- Written by hand after Fluent's documentation (https://docs.vapor.codes/fluent/schema/) and the SQL that FluentSQL logs.
CREATE TABLE "_fluent_migrations"("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "batch" INTEGER NOT NULL, "created_at" REAL, "updated_at" REAL, CONSTRAINT "uq:_fluent_migrations.name" UNIQUE ("name"));
CREATE TABLE "_fluent_enums"("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "case" TEXT NOT NULL, CONSTRAINT "uq:_fluent_enums.name+_fluent_enums.case" UNIQUE ("name", "case"));
CREATE TABLE "galaxies"("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "note" TEXT, "created_at" REAL, "updated_at" REAL, "deleted_at" REAL, CONSTRAINT "uq:galaxies.name" UNIQUE ("name"));
CREATE TABLE "planets"("id" UUID PRIMARY KEY, "galaxy_id" UUID NOT NULL, "name" TEXT NOT NULL, "moons" INTEGER NOT NULL, "mass" REAL, "is_known" INTEGER NOT NULL DEFAULT true, "found_on" REAL, "picture" BLOB, "orbit" TEXT, CONSTRAINT "fk:planets.galaxy_id+galaxies.id" FOREIGN KEY ("galaxy_id") REFERENCES "galaxies" ("id") ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE TABLE "tags"("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
CREATE TABLE "planet+tag"("id" UUID PRIMARY KEY, "planet_id" UUID NOT NULL, "tag_id" INTEGER NOT NULL, CONSTRAINT "fk:planet+tag.planet_id+planets.id" FOREIGN KEY ("planet_id") REFERENCES "planets" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION, CONSTRAINT "fk:planet+tag.tag_id+tags.id" FOREIGN KEY ("tag_id") REFERENCES "tags" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION, CONSTRAINT "uq:planet+tag.planet_id+planet+tag.tag_id" UNIQUE ("planet_id", "tag_id"));
INSERT INTO "_fluent_migrations" VALUES ('0D4B8E2A-6A86-4A30-9AD5-2F3B2A9C1F01', 'App.CreateGalaxy', 1, 1715949015.25, 1715949015.25);
INSERT INTO "_fluent_enums" VALUES ('0D4B8E2A-6A86-4A30-9AD5-2F3B2A9C1F02', 'planet_type', 'dwarf');
INSERT INTO "galaxies" VALUES ('7D444840-9DC0-11D1-B245-5FFDCE74FAD2', 'Milky Way', 'it''s “ours”', 1715949015.25, 1715949015.25, NULL);
INSERT INTO "planets" VALUES ('7D444840-9DC0-11D1-B245-5FFDCE74FAD3', '7D444840-9DC0-11D1-B245-5FFDCE74FAD2', 'Earth', 1, 5.972e24, 1, -4861641600.0, X'00ff', '{"days":365.25,"names":["year"]}');
INSERT INTO "tags" ("name") VALUES ('rocky');
INSERT INTO "planet+tag" VALUES ('7D444840-9DC0-11D1-B245-5FFDCE74FAD4', '7D444840-9DC0-11D1-B245-5FFDCE74FAD3', 1);
