import QRCodec

/// One input of libFuzzer, which changes what it gives by what the code does with it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let limits = ImageLimits(maxPixels: 1_000_000, maxWorkingBytes: 32 << 20)
    _ = try? QRScanner.scan(Array(UnsafeBufferPointer(start: data, count: count)), limits: limits)
    return 0
}
