import CProgram

/// Asks the Avahi daemon what `discover` is going to ask, before the program that can hear the answer has started.
///
/// The daemon asks the network once for a type, however many want to know, and a second after it has begun to it says
/// that all known answers are in (`avahi_querier_add` in avahi-core/querier.c, Avahi 0.8). A client of its library says
/// what it wants to know after a dozen round trips; here everything is written at once, and nobody waits for an answer.
/// The question lives as long as the connection, which the next program gets, by its number in the environment, and
/// closes.
struct DaemonQuery {
    private var types: [String] = []

    /// - Parameter arguments: The program's name and the words behind it.
    /// - Returns: nil for every command line but `discover [--type TYPE]… [--engine auto | daemon] [--json | -q]`, and
    ///   where the environment chooses another engine, or an interface. Whoever wants the first host alone is best
    ///   served by what the daemon knows already.
    init?(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
        guard arguments[0] != nil, let command = arguments[1], strcmp(command, "discover") == 0 else { return nil }
        var hasFormat = false
        var engine: UnsafeMutablePointer<CChar>?
        var words = arguments + 2
        while let word = words.pointee {
            words += 1
            switch true {
            case strcmp(word, "--json") == 0, strcmp(word, "-q") == 0, strcmp(word, "--quiet") == 0:
                guard !hasFormat else { return nil }
                hasFormat = true
            case strcmp(word, "--type") == 0:
                guard let type = words.pointee.flatMap(Self.type) else { return nil }
                types.append(type)
                words += 1
            case strcmp(word, "--engine") == 0:
                guard engine == nil, let name = words.pointee else { return nil }
                engine = name
                words += 1
            default: return nil
            }
        }
        guard Self.isDaemon(engine), Self.isEmpty(getenv("PAIRTOOL_INTERFACE")) else { return nil }
        if types.isEmpty { types = UsualServiceType.all }
    }

    /// Whether the daemon is asked first: by the choice of the command line, else by that of the environment.
    private static func isDaemon(_ choice: UnsafeMutablePointer<CChar>?) -> Bool {
        let usual = getenv("PAIRTOOL_ENGINE")
        if choice == nil, isEmpty(usual) { return true }
        guard let engine = choice ?? usual else { return false }
        return strcmp(engine, "auto") == 0 || strcmp(engine, "daemon") == 0
    }

    private static func isEmpty(_ word: UnsafeMutablePointer<CChar>?) -> Bool { word?.pointee ?? 0 == 0 }

    /// - Returns: nil for a word that is no service type, or not plainly one.
    private static func type(_ word: UnsafeMutablePointer<CChar>) -> String? {
        let end = strlen(word) - 5
        guard word.pointee == CChar(UInt8(ascii: "_")), (2..<60).contains(end),
            strcmp(word + end, "._tcp") == 0 || strcmp(word + end, "._udp") == 0,
            isalpha(word[1].code) != 0, isalnum(word[end - 1].code) != 0
        else { return nil }
        for index in 1..<end {
            guard isalnum(word[index].code) != 0 || word[index] == CChar(UInt8(ascii: "-")) else { return nil }
        }
        return String(cString: word)
    }

    /// Where the bus cannot be told at once, it is told nothing.
    func send() {
        guard let path = busPath else { return }
        let descriptor = socket_without_waiting()
        // Nothing that is opened here may be taken for standard output.
        guard descriptor > STDERR_FILENO else {
            close(descriptor)
            return
        }
        let bytes = question
        guard BusSocket.connect(descriptor, to: path) == 0,
            CProgram.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count,
            setenv(InheritedConnection.variable, "\(descriptor)", 1) == 0
        else {
            close(descriptor)
            return
        }
        // The bus is likely to wait for this very processor, which the next program would keep for milliseconds.
        sched_yield()
    }

    /// - Returns: nil where the environment names a bus by anything but the path of its socket.
    private var busPath: String? {
        guard let address = getenv("DBUS_SYSTEM_BUS_ADDRESS"), address.pointee != 0 else { return BusSocket.systemPath }
        let prefix = "unix:path="
        guard strncmp(address, prefix, prefix.utf8.count) == 0, strpbrk(address, ",;%") == nil else { return nil }
        return String(cString: address + prefix.utf8.count)
    }

    private var question: [UInt8] {
        var bytes = BusSocket.introduction + BusSocket.beginning + BusCall.hello.bytes(serial: 1)
        for (index, type) in types.enumerated() {
            // On every interface, over both IP versions, in the daemon's own domain, without flags.
            let arguments: [BusCall.Argument] = [.integer(-1), .integer(-1), .text(type), .text(""), .number(0)]
            bytes += BusCall.avahi("ServiceBrowserNew", arguments).bytes(serial: UInt32(index) + 2)
        }
        return bytes
    }
}

extension CChar {
    /// As the C library's questions about characters want it.
    fileprivate var code: Int32 { Int32(UInt8(bitPattern: self)) }
}
