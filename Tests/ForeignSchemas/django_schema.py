"""The tables that Django makes for a model of each field that Larder's records have a type for.

    django_schema.py sqlite FILE
    django_schema.py postgres FOLDER USER DATABASE
"""

import datetime
import decimal
import sys
import types
import uuid

import django
from django.conf import settings

engine, place = sys.argv[1], sys.argv[2]
database = {"ENGINE": "django.db.backends.sqlite3", "NAME": place}
if engine == "postgres":
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": place,
        "USER": sys.argv[3],
        "NAME": sys.argv[4],
    }
settings.configure(
    DATABASES={"default": database},
    INSTALLED_APPS=["library"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)

# The application is this file.
module = types.ModuleType("library")
module.__file__ = __file__
module.__path__ = []
sys.modules["library"] = module
apps = types.ModuleType("library.apps")
from django.apps import AppConfig  # noqa: E402


class Library(AppConfig):
    name = "library"
    path = "."


module.Library = Library
settings.INSTALLED_APPS[:] = ["library.Library"]
django.setup()

from django.db import connection, migrations, models  # noqa: E402
from django.db.migrations.autodetector import MigrationAutodetector  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.db.migrations.state import ProjectState  # noqa: E402
from django.db.migrations.recorder import MigrationRecorder  # noqa: E402


class Author(models.Model):
    name = models.CharField(max_length=100, db_index=True)
    email = models.EmailField(unique=True)
    slug = models.SlugField()
    born = models.DateField(null=True, blank=True)
    joined = models.DateTimeField()
    rating = models.FloatField(default=0)
    is_active = models.BooleanField(default=True)
    notes = models.TextField(blank=True)

    class Meta:
        app_label = "library"


class Tag(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=30, unique=True)

    class Meta:
        app_label = "library"


class Book(models.Model):
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
    title = models.CharField(max_length=200)
    pages = models.PositiveIntegerField()
    copies = models.SmallIntegerField(default=1)
    sold = models.BigIntegerField(db_default=0)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    metadata = models.JSONField(default=dict)
    cover = models.BinaryField(null=True)
    tags = models.ManyToManyField(Tag)

    class Meta:
        app_label = "library"
        indexes = [models.Index(fields=["title", "-pages"], name="book_title_pages")]
        constraints = [
            models.UniqueConstraint(fields=["author", "title"], name="book_author_title"),
            models.CheckConstraint(condition=models.Q(pages__lt=100000), name="book_pages"),
        ]


class Loan(models.Model):
    book = models.OneToOneField(Book, on_delete=models.PROTECT)
    until = models.DateField(db_index=True)

    class Meta:
        app_label = "library"
        db_table = "Loan of a book"


recorder = MigrationRecorder(connection)
recorder.ensure_schema()
with connection.schema_editor() as editor:
    for model in (Author, Tag, Book, Loan):
        editor.create_model(model)
recorder.record_applied("library", "0001_initial")

moment = datetime.datetime(2024, 5, 17, 12, 30, 15, 250000, tzinfo=datetime.timezone.utc)
ada = Author.objects.create(
    name="Ada", email="ada@example.com", slug="ada", born=datetime.date(1815, 12, 10),
    joined=moment, rating=4.5, notes="it's “here”",
)
bob = Author.objects.create(name="Bob", email="bob@example.com", slug="bob", joined=moment)
tag = Tag.objects.create(id=uuid.UUID("7d444840-9dc0-11d1-b245-5ffdce74fad2"), name="engines")
book = Book.objects.create(
    author=ada, title="Notes", pages=65, price=decimal.Decimal("12.50"),
    metadata={"isbn": None, "editions": [1, 2]}, cover=b"\x00\xff",
)
book.tags.add(tag)
Loan.objects.create(book=book, until=datetime.date(2024, 6, 1))
