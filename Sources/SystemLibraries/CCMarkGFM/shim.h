#pragma once
#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>

// The library has these, but no header of Debian's declares them: the types get their values when the extensions are
// registered.
extern cmark_node_type CMARK_NODE_TABLE;
extern cmark_node_type CMARK_NODE_TABLE_ROW;
extern cmark_node_type CMARK_NODE_TABLE_CELL;
extern cmark_node_type CMARK_NODE_STRIKETHROUGH;

// Swift holds variables of C to be unsafe to share.
static inline cmark_node_type pairtool_cmark_table(void) { return CMARK_NODE_TABLE; }
static inline cmark_node_type pairtool_cmark_table_row(void) { return CMARK_NODE_TABLE_ROW; }
static inline cmark_node_type pairtool_cmark_table_cell(void) { return CMARK_NODE_TABLE_CELL; }
static inline cmark_node_type pairtool_cmark_strikethrough(void) { return CMARK_NODE_STRIKETHROUGH; }
