#pragma once
#if !__has_include(<dbus/dbus.h>)
#error "libdbus is missing: scripts/setup installs all that is needed, or apt-get install libdbus-1-dev"
#endif
#include <dbus/dbus.h>
