#include <histedit.h>
#include <stdio.h>

// Variadic functions do not import: these are the calls that are needed, with their types.

// The standard streams are variables, which Swift holds to be unsafe to share.
static inline EditLine *pairtool_el_init(void) {
    return el_init("pairtool", stdin, stderr, stderr);
}

static inline int pairtool_el_set_prompt(EditLine *editor, char *(*prompt)(EditLine *)) {
    return el_set(editor, EL_PROMPT, prompt);
}

static inline int pairtool_el_set_editor(EditLine *editor, const char *mode) {
    return el_set(editor, EL_EDITOR, mode);
}

static inline int pairtool_el_set_history(EditLine *editor, History *entries) {
    return el_set(editor, EL_HIST, history, entries);
}

static inline int pairtool_el_set_reader(EditLine *editor, el_rfunc_t reader) {
    return el_set(editor, EL_GETCFN, reader);
}

static inline int pairtool_el_set_client_data(EditLine *editor, void *data) {
    return el_set(editor, EL_CLIENTDATA, data);
}

static inline void *pairtool_el_client_data(EditLine *editor) {
    void *data = NULL;
    el_get(editor, EL_CLIENTDATA, &data);
    return data;
}

static inline int pairtool_history_set_size(History *entries, HistEvent *event, int size) {
    return history(entries, event, H_SETSIZE, size);
}

static inline int pairtool_history_enter(History *entries, HistEvent *event, const char *line) {
    return history(entries, event, H_ENTER, line);
}
