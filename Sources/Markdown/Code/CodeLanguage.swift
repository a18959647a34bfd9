import CompanionWire

/// The rules of a language for a highlighter: enough to tell words, strings, numbers and comments apart.
struct CodeLanguage: Sendable {
    struct Quote: Sendable {
        var begin: [UInt8]
        var end: [UInt8]
        /// Whether the text may go on in the next line.
        var isLong = false
        /// Whether a backslash takes away the meaning of what follows.
        var hasEscapes = true

        init(_ begin: String, end: String? = nil, isLong: Bool = false, hasEscapes: Bool = true) {
            (self.begin, self.end) = (Array(begin.utf8), Array((end ?? begin).utf8))
            (self.isLong, self.hasEscapes) = (isLong, hasEscapes)
        }
    }

    enum Kind: Sendable {
        case words, diff, markup
    }

    var kind = Kind.words
    /// The signs that begin a comment that ends with the line.
    var lineComments: [[UInt8]] = []
    var blockComment: Quote?
    /// Longer beginnings come first.
    var quotes: [Quote] = []
    private var keywords: [[Word]] = []
    private var ignoresCase = false
    /// The signs that begin a comment, a text or a tag: a bit for each.
    private var signs: UInt128 = 0

    /// The bytes of a short word.
    private typealias Word = UInt128

    init(
        _ keywords: String = "",
        kind: Kind = .words,
        comments: [String] = [],
        block: Quote? = nil,
        quotes: [Quote] = [],
        ignoresCase: Bool = false
    ) {
        self.kind = kind
        self.quotes = quotes
        self.ignoresCase = ignoresCase
        lineComments = comments.map { Array($0.utf8) }
        blockComment = block
        self.keywords = [[Word]](repeating: [], count: 32)
        for keyword in keywords.utf8.split(separator: UInt8(ascii: " ")) {
            self.keywords[Int(keyword.first! & 31)].append(Self.word(keyword, ignoresCase: ignoresCase))
        }
        for begin in lineComments + quotes.map(\.begin) + (block.map { [$0.begin] } ?? []) {
            signs |= 1 << UInt128(begin[0])
        }
        if kind == .markup { signs |= 1 << UInt128(UInt8(ascii: "<")) | 1 << UInt128(UInt8(ascii: ">")) }
    }

    /// Whether a sign can begin something other than code.
    ///
    /// - Parameter sign: ASCII.
    func canBegin(_ sign: UInt8) -> Bool {
        signs >> UInt128(sign) & 1 == 1
    }

    /// - Parameter word: Not empty.
    func isKeyword(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count <= 16 else { return false }
        return keywords[Int(word[word.startIndex] & 31)].contains(Self.word(word, ignoresCase: ignoresCase))
    }

    private static func word(_ bytes: some Sequence<UInt8>, ignoresCase: Bool) -> Word {
        bytes.reduce(0) { word, byte in
            word << 8 | Word(ignoresCase && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte)
        }
    }
}

extension CodeLanguage {
    /// The language that the first word of a code block's info string names; nil for one that is not known.
    static func named(_ name: String) -> CodeLanguage? {
        byName[name.lowercased()]
    }

    private static let slashes = Quote("/*", end: "*/", isLong: true, hasEscapes: false)
    private static let double = Quote("\"")
    private static let single = Quote("'")
    private static let usual = [double, single]

    private static let byName: [String: CodeLanguage] = {
        var result: [String: CodeLanguage] = [:]
        for (names, language) in all {
            for name in names.parts(" ") { result[String(name)] = language }
        }
        return result
    }()

    private static let all: [(names: String, language: CodeLanguage)] = [
        (
            "swift",
            CodeLanguage(
                """
                actor any as associatedtype async await break case catch class continue default defer deinit do else \
                enum extension fallthrough false fileprivate final for func get guard if import in indirect init inout \
                internal is isolated lazy let mutating nil nonisolated open operator override package precedencegroup \
                private protocol public repeat required rethrows return self Self sending set some static struct \
                subscript super switch throw throws true try typealias var weak where while
                """,
                comments: ["//"],
                block: slashes,
                quotes: [Quote("\"\"\"", isLong: true), double]
            )
        ),
        (
            "python py python3 starlark",
            CodeLanguage(
                """
                False None True and as assert async await break case class continue def del elif else except finally \
                for from global if import in is lambda match nonlocal not or pass raise return self try while with yield
                """,
                comments: ["#"],
                quotes: [Quote("\"\"\"", isLong: true), Quote("'''", isLong: true)] + usual
            )
        ),
        (
            "javascript js jsx mjs typescript ts tsx",
            CodeLanguage(
                """
                abstract any as async await boolean break case catch class const continue debugger declare default \
                delete do else enum export extends false finally for from function get if implements import in \
                instanceof interface is keyof let namespace new null number of private protected public readonly \
                return set static string super switch this throw true try type typeof undefined unknown var void while \
                with yield
                """,
                comments: ["//"],
                block: slashes,
                quotes: [Quote("`", isLong: true)] + usual
            )
        ),
        (
            "go golang",
            CodeLanguage(
                """
                any bool break byte case chan const continue default defer else error fallthrough false float64 for \
                func go goto if import int int64 interface map nil package range return rune select string struct \
                switch true type uint var
                """,
                comments: ["//"],
                block: slashes,
                quotes: [Quote("`", isLong: true, hasEscapes: false)] + usual
            )
        ),
        (
            "rust rs",
            CodeLanguage(
                """
                as async await bool break char const continue crate dyn else enum extern f64 false fn for i32 i64 if \
                impl in let loop match mod move mut pub ref return Self self static str struct super trait true type \
                u32 u64 u8 union unsafe use usize where while
                """,
                comments: ["//"],
                block: slashes,
                // A single quote also begins a lifetime.
                quotes: [double]
            )
        ),
        (
            "c h cpp c++ cc cxx hpp objc java kotlin kt scala csharp c# cs dart php proto",
            CodeLanguage(
                """
                abstract alignas alignof as async auto await base bool boolean break byte case catch char class const \
                constexpr continue data decltype default delegate delete do double else enum explicit export extends \
                extern false final finally float for foreach friend fun function goto if implements import in inline \
                instanceof int interface internal is lock long mutable namespace native new noexcept null nullptr \
                object operator out override package private protected public readonly record ref register return \
                sealed short signed sizeof static string struct super switch synchronized template this throw throws \
                transient true try typedef typename uint union unsigned using val var virtual void volatile when where \
                while yield
                """,
                comments: ["//", "#include", "#define", "#if", "#endif", "#else", "#pragma"],
                block: slashes,
                quotes: usual
            )
        ),
        (
            "bash sh shell zsh fish console shellsession dockerfile makefile make ruby rb perl pl elixir r",
            CodeLanguage(
                """
                ADD CMD COPY ENTRYPOINT ENV EXPOSE FROM RUN WORKDIR alias begin break case cd class continue declare \
                def do done echo elif else elsif end ensure esac eval exec exit export false fi for function if in \
                local module my nil next package print puts readonly require rescue return self set shift source sub \
                sudo test then trap true unless unset until use when while yield
                """,
                comments: ["#"],
                quotes: [Quote("\"", isLong: true), Quote("'", isLong: true, hasEscapes: false)]
            )
        ),
        (
            "sql sqlite postgres postgresql mysql plsql",
            CodeLanguage(
                """
                add all alter and as asc avg begin between bigint boolean by case check column commit constraint count \
                create cross date default delete desc distinct drop else end except exists explain false foreign from \
                full group having if in index inner insert int integer intersect into is join key left like limit max \
                min not null numeric offset on or order outer over partition primary references replace returning \
                right rollback select set sum table text then timestamp transaction trigger true union unique update \
                using values varchar view when where with
                """,
                comments: ["--"],
                block: slashes,
                quotes: [Quote("'", isLong: true, hasEscapes: false), double],
                ignoresCase: true
            )
        ),
        ("json jsonc json5 jsonl", CodeLanguage("true false null", comments: ["//"], block: slashes, quotes: [double])),
        (
            "yaml yml toml ini conf properties",
            CodeLanguage(
                "true false null yes no on off",
                comments: ["#"],
                quotes: [Quote("\"\"\"", isLong: true), double, Quote("'", hasEscapes: false)]
            )
        ),
        (
            "html xml svg xhtml vue plist",
            CodeLanguage(
                kind: .markup,
                block: Quote("<!--", end: "-->", isLong: true, hasEscapes: false),
                quotes: usual
            )
        ),
        (
            "css scss sass less",
            CodeLanguage(
                """
                absolute auto block bold border center flex fixed grid hidden important import inherit initial inline \
                media none relative solid transparent
                """,
                block: slashes,
                quotes: usual
            )
        ),
        ("diff patch udiff", CodeLanguage(kind: .diff)),
    ]
}
