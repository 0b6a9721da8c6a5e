"""The tables that SQLAlchemy and Alembic make for a model of each type that Larder's records have.

    alembic_schema.py sqlite FILE
    alembic_schema.py postgres FOLDER USER DATABASE
"""

import datetime
import decimal
import sys
import uuid

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

engine, place = sys.argv[1], sys.argv[2]
url = f"sqlite:///{place}"
if engine == "postgres":
    url = f"postgresql+psycopg2://{sys.argv[3]}@/{sys.argv[4]}?host={place}"
database = sa.create_engine(url)

with database.begin() as connection:
    context = MigrationContext.configure(connection)
    context._ensure_version_table()
    op = Operations(context)
    account = op.create_table(
        "account",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.String(120), nullable=False),
        sa.Column("name", sa.Unicode(60), nullable=False, server_default="nobody"),
        sa.Column("is_admin", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("score", sa.Float, nullable=True),
        sa.Column("exact", sa.Double, nullable=True),
        sa.Column("balance", sa.Numeric(12, 2), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime, nullable=True),
        sa.Column("birthday", sa.Date, nullable=True),
        sa.Column("settings", sa.JSON, nullable=True),
        sa.Column("token", sa.Uuid, nullable=True, unique=True),
        sa.Column("picture", sa.LargeBinary, nullable=True),
        sa.CheckConstraint("balance >= 0", name="balance_is_positive"),
        sa.UniqueConstraint("email", name="uq_account_email"),
    )
    op.create_index("ix_account_name", "account", ["name"])
    entry = op.create_table(
        "entry",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True)
        if engine == "postgres"
        else sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account_id", sa.Integer, sa.ForeignKey("account.id", ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.SmallInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("length", sa.Integer, sa.Computed("length(text)", persisted=True)),
        sa.UniqueConstraint("account_id", "position", name="uq_entry_position"),
    )
    op.create_index(
        "ix_entry_open", "entry", ["account_id"],
        postgresql_where=sa.text("position > 0"), sqlite_where=sa.text("position > 0"))
    label = op.create_table(
        "label",
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("entry.id"), primary_key=True),
        sa.Column("label", sa.String(20), primary_key=True),
    )
    op.bulk_insert(account, [{
        "id": 1, "email": "ada@example.com", "name": "Ada", "is_admin": True, "score": 4.5, "exact": 0.1,
        "balance": decimal.Decimal("12.50"),
        "created_at": datetime.datetime(2024, 5, 17, 12, 30, 15, 250000, tzinfo=datetime.timezone.utc),
        "updated_at": datetime.datetime(2024, 5, 18, 0, 0), "birthday": datetime.date(1815, 12, 10),
        "settings": {"theme": "dark", "sizes": [1, 2]},
        "token": uuid.UUID("7d444840-9dc0-11d1-b245-5ffdce74fad2"), "picture": b"\x00\xff",
    }])
    connection.execute(entry.insert(), [{"account_id": 1, "position": 1, "text": "it's “here”"}])
    connection.execute(label.insert(), [{"entry_id": 1, "label": "new"}])
    connection.execute(sa.text("INSERT INTO alembic_version VALUES ('0f3c2a9d7b11')"))
