import FoundationEssentials
import Glibc

func makeExecutable(_ path: String) throws {
    guard chmod(path, 0o755) == 0 else { throw TestFailure("chmod \(path): \(errno)") }
}

func removeFile(_ path: String) throws {
    guard unlink(path) == 0 else { throw TestFailure("unlink \(path): \(errno)") }
}

func link(_ target: String, at path: String) throws {
    guard symlink(target, path) == 0 else { throw TestFailure("symlink \(path): \(errno)") }
}

func makePipe(_ path: String) throws {
    guard mkfifo(path, 0o600) == 0 else { throw TestFailure("mkfifo \(path): \(errno)") }
}

func mode(of path: String) throws -> UInt32 {
    let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    // Its type depends on which Foundation is at hand.
    guard let value, let mode = UInt32("\(value)") else { throw TestFailure("\(path) has no mode") }
    return mode
}

func machineName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, 255)
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Whether a process exists. One that has ended and waits for its parent does not count.
func isAlive(_ process: Int32) -> Bool {
    guard kill(process, 0) == 0 else { return false }
    guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    guard fgets(&line, 1024, file) != nil else { return false }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let state = text[text.index(after: text.lastIndex(of: ")") ?? text.startIndex)...].first { $0 != " " }
    return state != "Z" && state != "X"
}

/// The text of a file whose size the kernel does not tell beforehand.
func contents(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw TestFailure("open \(path): \(errno)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// Whether `scripts/in-private-network` made the network: only there may a host listen on all interfaces.
let isPrivateNetwork = getenv("PAIRTOOL_PRIVATE_NETWORK").map { String(cString: $0) == "yes" } ?? false

/// An IPv4 address that is not loopback's, in a private network; nil where there is none.
func networkAddress() -> String? {
    guard isPrivateNetwork else { return nil }
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    for item in sequence(first: list, next: { $0?.pointee.ifa_next }) {
        guard let item, let address = item.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
            continue
        }
        var name = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
            var bytes = address.pointee.sin_addr
            _ = inet_ntop(AF_INET, &bytes, &name, socklen_t(name.count))
        }
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if !text.hasPrefix("127.") { return text }
    }
    return nil
}
