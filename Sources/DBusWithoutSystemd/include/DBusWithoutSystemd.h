#pragma once
/* Nothing to be called: see DBusWithoutSystemd.c. */
