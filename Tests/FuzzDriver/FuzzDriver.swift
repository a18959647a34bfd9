import Glibc

/// Set before libFuzzer calls ``fuzz(_:_:)``, and never after. Safe because libFuzzer has one thread.
nonisolated(unsafe) private var feed: ([UInt8]) -> Void = { _ in }

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    feed(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<Int8>?>

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// What `FUZZ_FORMAT` names, of the formats that a program knows.
public func chosenTarget<Target: RawRepresentable<String>>() -> Target {
    let name = getenv("FUZZ_FORMAT").map { String(cString: $0) } ?? ""
    guard let target = Target(rawValue: name) else {
        print("There is no format \(name).")
        exit(2)
    }
    return target
}

/// Feeds the inputs of libFuzzer, which changes them by what the code does with them.
public func runLibFuzzer(_ body: @escaping ([UInt8]) -> Void) {
    feed = body
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    _ = runDriver(&count, &arguments) { fuzz($0, $1) }
}
