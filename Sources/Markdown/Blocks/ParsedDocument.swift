import CCMarkGFM
import Glibc
import Synchronization

/// A text that cmark-gfm has parsed.
struct ParsedDocument: ~Copyable {
    private let root: OpaquePointer

    private static let extensions: [String] = {
        cmark_gfm_core_extensions_ensure_registered()
        return ["table", "strikethrough", "tasklist"]
    }()

    /// While it parses, cmark adds the characters of extensions to a table of the whole process.
    private static let parsing = Mutex(())

    /// Takes memory for cmark's many small nodes, and clears it: glibc's calloc leaves out the thread's own cache. Of
    /// malloc and memset the compiler would make calloc again. Safe because it is never changed, and never freed.
    private nonisolated(unsafe) static let memory: UnsafeMutablePointer<cmark_mem> = {
        let memory = UnsafeMutablePointer<cmark_mem>.allocate(capacity: 1)
        memory.initialize(
            to: cmark_mem(
                calloc: { count, size in
                    // As in cmark's own: without memory, the process ends.
                    let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: size)
                    let alignment = MemoryLayout<max_align_t>.alignment
                    guard !isTooMuch, bytes <= Int.max - alignment else { abort() }
                    // C11, 7.22.3.1: a multiple of the alignment.
                    let whole = (bytes + alignment - 1) / alignment * alignment
                    guard let new = aligned_alloc(alignment, whole) else { abort() }
                    return memset(new, 0, bytes)
                },
                realloc: { old, size in realloc(old, size) ?? { abort() }() },
                free: { free($0) }
            )
        )
        return memory
    }()

    /// - Parameter text: UTF-8 without NUL.
    init(_ text: [UInt8]) {
        // Footnotes stay off: cmark moves them to the end, and drops those that nothing refers to. Addresses become
        // links here and not by cmark's extension, which reads beyond its text (CVE-2023-22485).
        let extensions = Self.extensions
        let parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, Self.memory)
        defer { cmark_parser_free(parser) }
        for name in extensions { cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name)) }
        text.withUnsafeBytes { bytes in
            cmark_parser_feed(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        var finished: OpaquePointer?
        Self.parsing.withLock { _ in finished = cmark_parser_finish(parser) }
        // cmark ends the process where there is no memory, and returns nil for no other reason.
        root = finished!
    }

    deinit {
        cmark_node_free(root)
    }

    /// The top node. It lives as long as the document.
    var node: MarkdownNode { MarkdownNode(root) }

    /// Whether nothing is to be shown.
    var isEmpty: Bool { cmark_node_first_child(root) == nil }
}

/// A node of a parsed text. It must not be used after its document.
struct MarkdownNode {
    enum Kind {
        case paragraph, heading, code, html, rule, quote, list, item, table, tableRow, tableCell, other
        case text, softBreak, lineBreak, inlineCode, inlineHTML, emphasis, strong, struck, link, image
    }

    private let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    var kind: Kind {
        switch cmark_node_get_type(pointer) {
        case CMARK_NODE_PARAGRAPH: .paragraph
        case CMARK_NODE_TEXT: .text
        case CMARK_NODE_SOFTBREAK: .softBreak
        case CMARK_NODE_LINEBREAK: .lineBreak
        case CMARK_NODE_CODE: .inlineCode
        case CMARK_NODE_HTML_INLINE: .inlineHTML
        case CMARK_NODE_EMPH: .emphasis
        case CMARK_NODE_STRONG: .strong
        case CMARK_NODE_LINK: .link
        case CMARK_NODE_IMAGE: .image
        case CMARK_NODE_HEADING: .heading
        case CMARK_NODE_CODE_BLOCK: .code
        case CMARK_NODE_HTML_BLOCK: .html
        case CMARK_NODE_THEMATIC_BREAK: .rule
        case CMARK_NODE_BLOCK_QUOTE: .quote
        case CMARK_NODE_LIST: .list
        case CMARK_NODE_ITEM: .item
        case pairtool_cmark_table(): .table
        case pairtool_cmark_table_row(): .tableRow
        case pairtool_cmark_table_cell(): .tableCell
        case pairtool_cmark_strikethrough(): .struck
        default: .other
        }
    }

    var children: some Sequence<MarkdownNode> {
        sequence(state: cmark_node_first_child(pointer)) { next -> MarkdownNode? in
            guard let node = next else { return nil }
            next = cmark_node_next(node)
            return MarkdownNode(node)
        }
    }

    /// The level of a heading, from 1 to 6.
    var level: Int { Int(cmark_node_get_heading_level(pointer)) }

    /// Whether the items of a list, and what is in them, follow each other without an empty line.
    var isTight: Bool { cmark_node_get_list_tight(pointer) == 1 }

    /// The number of an ordered list's first item; nil for another list.
    var firstNumber: Int? {
        cmark_node_get_list_type(pointer) == CMARK_ORDERED_LIST ? Int(cmark_node_get_list_start(pointer)) : nil
    }

    /// Whether an ordered list has `)` behind its numbers.
    var hasParenthesis: Bool { cmark_node_get_list_delim(pointer) == CMARK_PAREN_DELIM }

    /// Whether an item of a task list is done; nil for another item.
    var isDone: Bool? {
        guard strcmp(cmark_node_get_type_string(pointer), "tasklist") == 0 else { return nil }
        return cmark_gfm_extensions_get_tasklist_item_checked(pointer)
    }

    /// How a table's columns are aligned: `l`, `c`, `r`, or 0.
    var alignments: [UInt8] {
        let count = Int(cmark_gfm_extensions_get_table_columns(pointer))
        guard let first = cmark_gfm_extensions_get_table_alignments(pointer) else { return [] }
        return Array(UnsafeBufferPointer(start: first, count: count))
    }

    func withLiteral<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        Self.with(cmark_node_get_literal(pointer), body)
    }

    func withInfo<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        Self.with(cmark_node_get_fence_info(pointer), body)
    }

    /// The address of a link or an image.
    var address: [UInt8] {
        Self.with(cmark_node_get_url(pointer)) { Array($0) }
    }

    /// Calls a body for everything within this node, in order. It is not recursive: emphasis can be nested as deeply as
    /// the text is long.
    ///
    /// - Parameter body: Gets a node, and whether it begins here. Nodes without content only begin.
    func walk(_ body: (MarkdownNode, Bool) -> Void) {
        let iterator = cmark_iter_new(pointer)
        defer { cmark_iter_free(iterator) }
        while true {
            let event = cmark_iter_next(iterator)
            guard event != CMARK_EVENT_DONE, let node = cmark_iter_get_node(iterator) else { return }
            if node != pointer { body(MarkdownNode(node), event == CMARK_EVENT_ENTER) }
        }
    }

    private static func with<R>(_ text: UnsafePointer<CChar>?, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard let text else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        let count = strlen(text)
        return text.withMemoryRebound(to: UInt8.self, capacity: count) {
            body(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
