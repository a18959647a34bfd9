import QRCodec

/// Runs libFuzzer, which changes files by what the code does with them; see `scripts/fuzz --guided`.
typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<Int8>?>

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
_ = runDriver(&count, &arguments) { data, count in
    let limits = ImageLimits(maxPixels: 1_000_000, maxWorkingBytes: 32 << 20)
    _ = try? QRScanner.scan(Array(UnsafeBufferPointer(start: data, count: count)), limits: limits)
    return 0
}
