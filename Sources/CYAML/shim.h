#pragma once
#if !__has_include(<yaml.h>)
#error "libyaml is missing: scripts/setup installs all that is needed, or apt-get install libyaml-dev"
#endif
#include <yaml.h>
