#pragma once
#if !__has_include(<sqlite3.h>)
#error "SQLite is missing: scripts/setup installs all that is needed, or apt-get install libsqlite3-dev"
#endif
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a macro with a cast, which Swift does not import. */
static inline int shim_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}
