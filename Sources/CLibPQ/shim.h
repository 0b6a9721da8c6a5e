#ifndef LARDER_CLIBPQ_SHIM_H
#define LARDER_CLIBPQ_SHIM_H

// libpq's interface as the system declares it, and what Swift can't see of it: constants that are
// casts or character literals.

#include <libpq-fe.h>
#include <string.h>
#include <sys/eventfd.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "LarderPostgres needs libpq 14 or newer (pipeline mode)"
#endif

enum {
  LARDER_PG_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED,
  LARDER_PG_SQLSTATE = PG_DIAG_SQLSTATE,
  LARDER_PG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY,
  LARDER_PG_DETAIL = PG_DIAG_MESSAGE_DETAIL,
  LARDER_PG_HINT = PG_DIAG_MESSAGE_HINT,
  LARDER_PG_POSITION = PG_DIAG_STATEMENT_POSITION,
  LARDER_PG_CONTEXT = PG_DIAG_CONTEXT,
  LARDER_PG_TABLE = PG_DIAG_TABLE_NAME,
  LARDER_PG_COLUMN = PG_DIAG_COLUMN_NAME,
  LARDER_PG_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME,
  LARDER_PG_SOURCE_FUNCTION = PG_DIAG_SOURCE_FUNCTION
};

/// A counter that poll can wait for; -1 where there are no descriptors left.
static inline int larder_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static void larder_receive_notice(void *context, const PGresult *notice) {
  const char *function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (function && strcmp(function, "SyncRepWaitForLSN") == 0) *(int *)context = 1;
}

/// Has notices thrown away, which libpq prints otherwise, but for one that becomes the value of a variable, 1: that a
/// commit doesn't wait any longer for synchronous standbys, which may not have it.
static inline void larder_receive_notices(PGconn *connection, int *hasStoppedWaiting) {
  PQsetNoticeReceiver(connection, larder_receive_notice, hasStoppedWaiting);
}

/// The request to cancel what a connection runs, which another thread sends. Since libpq 17 it is encrypted as the
/// connection is.
static inline void *larder_cancel_make(PGconn *connection) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
  return PQcancelCreate(connection);
#else
  return PQgetCancel(connection);
#endif
}

/// Sends it, and waits until it has arrived, or can't.
static inline void larder_cancel_send(void *request) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
  PQcancelBlocking((PGcancelConn *)request);
#else
  char message[256];
  PQcancel((PGcancel *)request, message, sizeof message);
#endif
}

static inline void larder_cancel_free(void *request) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
  PQcancelFinish((PGcancelConn *)request);
#else
  PQfreeCancel((PGcancel *)request);
#endif
}

#endif
