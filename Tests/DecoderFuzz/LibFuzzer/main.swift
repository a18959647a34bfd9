import QRCodec

typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<Int8>?>

/// One input of libFuzzer, which changes files by what the code does with them; see `scripts/fuzz --guided`.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let limits = ImageLimits(maxPixels: 1_000_000, maxWorkingBytes: 32 << 20)
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    _ = try? QRScanner.scan(bytes, limits: limits)
    var parser = FrameParser()
    _ = try? parser.take(bytes[...])
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
_ = runDriver(&count, &arguments) { fuzz($0, $1) }
