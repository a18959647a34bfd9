import CompanionWire

/// Takes out of a text what says who and where somebody is.
///
/// What is known (names, addresses, ids) becomes a placeholder, such as `host-1`. Of everything else, only words that
/// pairtool's own findings have, and small numbers, are left: a name that is not known, an address or a secret becomes
/// `…`. So a word that is missing here costs clearness, and never a secret.
struct Redactor: Sendable {
    /// The longest first, so that a name within another does not break it.
    private let known: [(text: [UInt8], placeholder: String)]

    /// - Parameter known: Texts shorter than three bytes are not looked for.
    init(_ known: [(text: String, placeholder: String)]) {
        self.known = known.filter { $0.text.utf8.count >= 3 }
            .map { (Self.folded($0.text), $0.placeholder) }
            .sorted { $0.text.count > $1.text.count }
    }

    func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let folded = Self.folded(text)
        var result = ""
        var free: [UInt8] = []
        func endFree() {
            result += Self.filtered(String(decoding: free, as: UTF8.self))
            free = []
        }
        // Not within another word: `ada` is no part of `readable`.
        func isWhole(_ count: Int, at index: Int) -> Bool {
            let (first, last) = (index, index + count - 1)
            let joinsBefore = first > 0 && Self.isWord(folded[first]) && Self.isWord(folded[first - 1])
            let joinsAfter = last + 1 < folded.count && Self.isWord(folded[last]) && Self.isWord(folded[last + 1])
            return !joinsBefore && !joinsAfter
        }
        var index = 0
        while index < bytes.count {
            let rest = folded[index...]
            if let match = known.first(where: { rest.starts(with: $0.text) && isWhole($0.text.count, at: index) }) {
                endFree()
                result += match.placeholder
                index += match.text.count
            } else {
                free.append(bytes[index])
                index += 1
            }
        }
        endFree()
        return result
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (48...57).contains(byte) || byte >= 0x80
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    }

    // MARK: What is not known

    /// The text with `…` for each run of signs without white space that is not made of known words and small numbers.
    private static func filtered(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var token = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == " " || scalar == "\n" {
                result.append(contentsOf: kept(token))
                result.append(scalar)
                token = .init()
            } else {
                token.append(scalar)
            }
        }
        result.append(contentsOf: kept(token))
        return String(result)
    }

    private static func kept(_ token: String.UnicodeScalarView) -> String.UnicodeScalarView {
        let isOuter = { (scalar: Unicode.Scalar) in outer.contains(scalar) }
        guard let first = token.firstIndex(where: { !isOuter($0) }), let last = token.lastIndex(where: { !isOuter($0) })
        else { return token }
        let core = token[first...last]
        guard !isPlain(core) else { return token }
        var result = String.UnicodeScalarView(token[..<first])
        result.append("…")
        result.append(contentsOf: token[token.index(after: last)...])
        return result
    }

    /// What may stand around a word.
    private static let outer = Set("()[]{}\"'“”‘’,;:.!?…→–&<>=|$*".unicodeScalars)
    private static let inner = Set("/-.:=,'’+%_".unicodeScalars)

    private static func isPlain(_ core: Substring.UnicodeScalarView) -> Bool {
        // Addresses are numbers too.
        guard core.count(where: { $0 == "." }) < 3, core.count(where: { $0 == ":" }) < 2 else { return false }
        return core.split(whereSeparator: inner.contains).allSatisfy { part in
            let digits = part.prefix { (48...57).contains($0.value) }
            guard digits.count <= 5 else { return false }
            let word = String(String.UnicodeScalarView(part.dropFirst(digits.count)))
            guard word.unicodeScalars.allSatisfy({ $0.isASCII && $0.properties.isAlphabetic }) else { return false }
            return word.isEmpty || words.contains(word.lowercased())
        }
    }

    /// The words of the doctor's findings and advice, of errors, and of the names of our files.
    private static let words = Set(
        """
        a accept accepts access account add address addresses advert advertise advertised advertises adverts
        advice advises again agent ago agree agreed ahead aicli all allow allowed almost alone amount and
        another answer answered answering answers any app application apt are argument as ask asks assistant at
        auth authorization avahi available away back backup be bearer because before begin behind belongs
        between bookworm both broke bus busy but by bytes came camera can cannot caused certificate change
        changed changes characters chat chats check checks chmod chown client clock clocks closed code come
        command companion complete components config configure confirm connect connected connection containers
        contains content copilot copilotforge could count cursor d daemon damaged data days db dbus debian debug
        decoders default denied deployed details dev device devices did directories directory disconnect
        discover discovery disk dns do docker doctor does done drop drops else embedded empty end ended engine
        error errors establishing etc event examples exists exits expected failed false family file files find
        finding finish firewall first fix followed for found free freedesktop from full gave gb gib give gives
        gnu group h had has have health heard hello here history home host hostname hostnamectl hosts how http i id
        identity if in init install installed int intercepting interface into invalid ip ipsec iptables ipv is isipv
        isolation it its itself jarvis join joined journalctl json just kb keep kernel key keys kib know lan
        landlock large larger leads least leave left legacy let limit limited link linux list listens lo local
        lock log long longer look loopback lost ls lumi machine machines macs make makes many map max may mb
        mdns messages method mib min mode models more move moved ms much multicast multicastdns mv name names
        need needs neither net network networks never new newer nft nftables no nobody none nor not nothing now ntp of
        off offset older on once one only open options or org other others otherwise out over own packet pages pair
        paired pairing pairtool pass passes path peer pem permission picture pictures places plain port possible
        prefix private probe problem problems proc process program programs projects prompt protocol proves pull
        put qr rate reached read readable records redirect refuse refused refuses rejected renewing replaced
        request reset resolve resolved respond responders restart restore result revoked rfc rights room root
        route routers rule rules ruleset run runs runtime s same save say says scan searched seccomp second
        seconds secrets security see seen segment sending sent separator server service services session
        sessions set share shared shm show shown shows sign signature signed silent so socket sockets some
        somebody someone space speak speaks sport sqlite ss start state status still stopped store stores stream
        string such sudo switch switched sync synchronise system systemctl systemd tables tailscale take taken
        target tb test text than that the them themselves then there this through time timed timedatectl tls tmp
        to token toml too true trust try tunnel two type udp ufw under unique unless unreachable until up update
        url use used user usermod users usr verified version versions video virtual vpn vpns wal warning
        warnings was web well what where whether which who why wi with within work works writable writing
        written xdg yet you your yours zero
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    )
}
