import QRCodec
import Testing

@testable import struct QRCodec.FrameLight

@Suite("Hints for who holds a code")
struct FrameHintsTests {
    private static let day = FrameLight(dark: 30, light: 220)
    private static let night = FrameLight(dark: 5, light: 50)
    private static let glare = FrameLight(dark: 215, light: 255)

    private static func view(
        _ light: FrameLight = day,
        module: Double? = nil,
        at x: Double = 640,
        size: Double = 45,
        isRead: Bool = false
    ) -> FrameView {
        let symbol = module.map { SymbolCandidate(x: x, y: 360, module: $0, size: size) }
        return FrameView(light: light, side: 720, symbol: symbol, isRead: isRead)
    }

    @Test("The first frame says at once what would help")
    func first() {
        let cases: [(FrameView, FrameHint)] = [
            (Self.view(), .showCode), (Self.view(Self.night), .tooDark), (Self.view(Self.glare), .tooBright),
            (Self.view(module: 1.5), .moveCloser), (Self.view(module: 17), .moveBack),
            (Self.view(module: 8), .holdStill), (Self.view(Self.night, module: 8), .tooDark),
            (Self.view(module: 3), .moveCloser), (Self.view(module: 3, isRead: true), .holdStill),
        ]
        for (view, hint) in cases {
            var hints = FrameHints()
            #expect(hints.take(view) == hint)
        }
    }

    @Test("A code that moves is to be held still, also where it is small")
    func moving() {
        var hints = FrameHints()
        _ = hints.take(Self.view(module: 3, at: 100))
        var last = FrameHint.showCode
        for step in 1...FrameHints.steadiness { last = hints.take(Self.view(module: 3, at: 100 + 20 * Double(step))) }
        #expect(last == .holdStill)
    }

    @Test("A hint stays until another is wanted for some frames in a row")
    func steady() {
        var hints = FrameHints()
        #expect(hints.take(Self.view()) == .showCode)
        for _ in 1..<FrameHints.steadiness { #expect(hints.take(Self.view(Self.night)) == .showCode) }
        #expect(hints.take(Self.view()) == .showCode)
        for _ in 1..<FrameHints.steadiness { #expect(hints.take(Self.view(Self.night)) == .showCode) }
        #expect(hints.take(Self.view(Self.night)) == .tooDark)
        #expect(hints.take(Self.view(module: 8, isRead: true)) == .holdStill)
    }

    @Test("The light of a picture is that of its darkest and lightest parts")
    func light() {
        let width = 320
        let shades = (0..<width * 200).map { UInt8($0 % width < 32 ? 10 : $0 % width < 288 ? 100 : 250) }
        let light = FrameLight(QRImage(width: width, height: 200, luminance: shades))
        #expect(light == FrameLight(dark: 10, light: 250))
        let black = FrameLight(QRImage(width: 1, height: 1, luminance: [7]))
        #expect(black == FrameLight(dark: 7, light: 7))
    }
}
