#include "reference.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static const char *insert_name = "insert", *find_name = "find", *change_name = "change",
                  *all_name = "all";

static int ends_with(PGresult *result, ExecStatusType wanted) {
  int code = PQresultStatus(result) == wanted ? 0 : -1;
  PQclear(result);
  return code;
}

static int run(PGconn *connection, const char *sql) {
  return ends_with(PQexec(connection, sql), PGRES_COMMAND_OK);
}

static int prepare(PGconn *connection, const char *name, const char *sql) {
  return ends_with(PQprepare(connection, name, sql, 0, 0), PGRES_COMMAND_OK);
}

reference_connection *reference_open(const char *address) {
  PGconn *connection = PQconnectdb(address);
  if (PQstatus(connection) == CONNECTION_OK &&
      run(connection, "SET client_min_messages = error") == 0 &&
      run(connection, "DROP TABLE IF EXISTS reference") == 0 &&
      run(connection,
          "CREATE TABLE reference (id BIGINT PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL,"
          " population BIGINT NOT NULL, area DOUBLE PRECISION NOT NULL, country TEXT COLLATE \"C\")") == 0 &&
      prepare(connection, insert_name, "INSERT INTO reference VALUES ($1, $2, $3, $4, $5)") == 0 &&
      prepare(connection, find_name, "SELECT * FROM reference WHERE id = $1") == 0 &&
      prepare(connection, change_name,
              "UPDATE reference SET population = population + 1 WHERE id = $1") == 0 &&
      prepare(connection, all_name, "SELECT * FROM reference") == 0)
    return connection;
  PQfinish(connection);
  return 0;
}

void reference_close(reference_connection *connection) { PQfinish(connection); }

int reference_empty(reference_connection *connection) {
  return run(connection, "TRUNCATE reference");
}

static uint64_t real_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return htobe64(bits);
}

int reference_insert(reference_connection *connection, const reference_city *cities, int count) {
  static const int formats[] = {1, 1, 1, 1, 1};
  if (run(connection, "BEGIN")) return -1;
  for (int index = 0; index < count; index++) {
    const reference_city *city = &cities[index];
    uint64_t id = htobe64((uint64_t)city->id), population = htobe64((uint64_t)city->population),
             area = real_bits(city->area);
    const char *values[] = {(char *)&id, city->name, (char *)&population, (char *)&area, city->country};
    int lengths[] = {8, (int)strlen(city->name), 8, 8, city->country ? (int)strlen(city->country) : 0};
    if (ends_with(PQexecPrepared(connection, insert_name, 5, values, lengths, formats, 1), PGRES_COMMAND_OK))
      return -1;
  }
  return run(connection, "COMMIT");
}

static char *put(char *place, const void *bytes, int32_t length) {
  uint32_t big = htobe32((uint32_t)length);
  memcpy(place, &big, 4);
  if (length > 0) memcpy(place + 4, bytes, (size_t)length);
  return place + 4 + (length > 0 ? length : 0);
}

int reference_copy(reference_connection *connection, const reference_city *cities, int count) {
  static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
  char buffer[1 << 16], *place = buffer;
  if (ends_with(PQexec(connection, "COPY reference FROM STDIN (FORMAT binary)"), PGRES_COPY_IN)) return -1;
  memcpy(place, header, 19);
  place += 19;
  for (int index = 0; index < count; index++) {
    const reference_city *city = &cities[index];
    if (place - buffer > (1 << 16) - 1024) {
      if (PQputCopyData(connection, buffer, (int)(place - buffer)) != 1) return -1;
      place = buffer;
    }
    uint16_t columns = htobe16(5);
    uint64_t id = htobe64((uint64_t)city->id), population = htobe64((uint64_t)city->population),
             area = real_bits(city->area);
    memcpy(place, &columns, 2);
    place = put(place + 2, &id, 8);
    place = put(place, city->name, (int32_t)strlen(city->name));
    place = put(place, &population, 8);
    place = put(place, &area, 8);
    place = put(place, city->country, city->country ? (int32_t)strlen(city->country) : -1);
  }
  memcpy(place, "\377\377", 2);
  if (PQputCopyData(connection, buffer, (int)(place + 2 - buffer)) != 1) return -1;
  if (PQputCopyEnd(connection, 0) != 1) return -1;
  int code = ends_with(PQgetResult(connection), PGRES_COMMAND_OK);
  for (PGresult *result; (result = PQgetResult(connection));) PQclear(result);
  return code;
}

static int64_t integer(const PGresult *result, int row, int column) {
  uint64_t bits;
  memcpy(&bits, PQgetvalue(result, row, column), 8);
  return (int64_t)be64toh(bits);
}

static double real(const PGresult *result, int row, int column) {
  int64_t bits = integer(result, row, column);
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

static char *text(const PGresult *result, int row, int column) {
  if (PQgetisnull(result, row, column)) return 0;
  size_t length = (size_t)PQgetlength(result, row, column);
  char *copy = malloc(length + 1);
  if (copy) memcpy(copy, PQgetvalue(result, row, column), length + 1);
  return copy;
}

static reference_city city_of(const PGresult *result, int row) {
  reference_city city = {integer(result, row, 0), text(result, row, 1), integer(result, row, 2),
                         real(result, row, 3), text(result, row, 4)};
  return city;
}

static int64_t sum_of(const PGresult *result, int row) {
  reference_city city = city_of(result, row);
  int64_t sum = city.id + city.population + (city.country != 0);
  free(city.name);
  free(city.country);
  return sum;
}

int reference_find(reference_connection *connection, int count, int64_t *sum) {
  static const int formats[] = {1}, lengths[] = {8};
  for (int index = 1; index <= count; index++) {
    uint64_t id = htobe64((uint64_t)index);
    const char *values[] = {(char *)&id};
    PGresult *result = PQexecPrepared(connection, find_name, 1, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1) {
      PQclear(result);
      return -1;
    }
    *sum += sum_of(result, 0);
    PQclear(result);
  }
  return 0;
}

/// Reads what two statements and a Sync have sent.
static int finish(PGconn *connection, int statements) {
  int code = 0;
  while (statements-- > 0) {
    code |= ends_with(PQgetResult(connection), PGRES_COMMAND_OK);
    PGresult *end = PQgetResult(connection);
    if (end) {
      PQclear(end);
      return -1;
    }
  }
  return ends_with(PQgetResult(connection), PGRES_PIPELINE_SYNC) | code;
}

int reference_transactions(reference_connection *connection, int count) {
  static const int formats[] = {1}, lengths[] = {8};
  if (PQenterPipelineMode(connection) != 1) return -1;
  for (int index = 1; index <= count; index++) {
    uint64_t id = htobe64((uint64_t)index);
    const char *values[] = {(char *)&id};
    if (PQsendQueryParams(connection, "BEGIN", 0, 0, 0, 0, 0, 1) != 1 ||
        PQsendQueryPrepared(connection, change_name, 1, values, lengths, formats, 1) != 1 ||
        PQpipelineSync(connection) != 1 || finish(connection, 2) ||
        PQsendQueryParams(connection, "COMMIT", 0, 0, 0, 0, 0, 1) != 1 ||
        PQpipelineSync(connection) != 1 || finish(connection, 1))
      return -1;
  }
  return PQexitPipelineMode(connection) == 1 ? 0 : -1;
}

int reference_fetch_all(reference_connection *connection, reference_city **cities, int *count) {
  PGresult *result = PQexecPrepared(connection, all_name, 0, 0, 0, 0, 1);
  *count = PQntuples(result);
  *cities = malloc(sizeof(reference_city) * (size_t)(*count + 1));
  if (PQresultStatus(result) != PGRES_TUPLES_OK || !*cities) {
    PQclear(result);
    return -1;
  }
  for (int row = 0; row < *count; row++) (*cities)[row] = city_of(result, row);
  PQclear(result);
  return 0;
}

void reference_free(reference_city *cities, int count) {
  for (int index = 0; index < count; index++) {
    free(cities[index].name);
    free(cities[index].country);
  }
  free(cities);
}

int reference_stream(reference_connection *connection, int64_t *sum) {
  if (PQsendQueryPrepared(connection, all_name, 0, 0, 0, 0, 1) != 1 ||
      PQsetSingleRowMode(connection) != 1)
    return -1;
  int code = 0;
  for (PGresult *result; (result = PQgetResult(connection)); PQclear(result)) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_SINGLE_TUPLE)
      *sum += sum_of(result, 0);
    else if (status != PGRES_TUPLES_OK)
      code = -1;
  }
  return code;
}

int reference_fetch_texts(reference_connection *connection, const char *sql, int64_t *bytes) {
  PGresult *result = PQexecParams(connection, sql, 0, 0, 0, 0, 0, 0);
  int code = PQresultStatus(result) == PGRES_TUPLES_OK ? 0 : -1;
  for (int row = 0; row < PQntuples(result); row++) {
    for (int column = 0; column < PQnfields(result); column++) {
      char *copy = strdup(PQgetvalue(result, row, column));
      if (!copy) code = -1;
      *bytes += PQgetlength(result, row, column);
      free(copy);
    }
  }
  PQclear(result);
  return code;
}

void reference_counted(void (*work)(void *), void *context) {
  work(context);
  // Not a jump, which callgrind would take for the end.
  __asm__ volatile("" ::: "memory");
}
