import CXCB
import Glibc
package import QRCodec

/// Takes a picture of an X server's screen.
package enum XScreen {
    /// Connects, looks once and disconnects. Blocks.
    ///
    /// - Parameter display: The server and screen, such as `:0`.
    /// - Throws: ``DesktopError``.
    package static func image(display: String) throws(DesktopError) -> QRImage {
        guard let library = XCBLibrary.installed else {
            throw DesktopError(
                .missingLibrary,
                message: "the screen cannot be looked at without libxcb",
                remedy: "sudo apt install libxcb1"
            )
        }
        var number: Int32 = 0
        let connection = library.connect(display, &number)
        defer { library.disconnect(connection) }
        guard library.hasError(connection) == 0, let setup = library.setup(connection),
            let screen = screen(number, of: setup, library: library)
        else {
            throw DesktopError(
                .noScreen,
                message: "the X server \(display) does not answer, or does not let you in",
                remedy: "run it in a terminal of the desktop, as the user who is logged in there"
            )
        }
        guard let format = format(of: screen, setup: setup, library: library) else {
            throw DesktopError(
                .unsupportedScreen,
                message: "the screen has a palette, or colours of a kind that is not read"
            )
        }
        return try image(of: screen, format: format, connection: connection, library: library)
    }

    private static func screen(
        _ number: Int32,
        of setup: UnsafePointer<xcb_setup_t>,
        library: XCBLibrary
    ) -> UnsafeMutablePointer<xcb_screen_t>? {
        var screens = library.screens(setup)
        for _ in 0..<max(0, number) where screens.rem > 0 { library.nextScreen(&screens) }
        return screens.rem > 0 ? screens.data : nil
    }

    private static func format(
        of screen: UnsafeMutablePointer<xcb_screen_t>,
        setup: UnsafePointer<xcb_setup_t>,
        library: XCBLibrary
    ) -> PixelFormat? {
        let formats = UnsafeBufferPointer(start: library.formats(setup), count: Int(library.formatCount(setup)))
        guard let format = formats.first(where: { $0.depth == screen.pointee.root_depth }) else { return nil }
        var depths = library.depths(screen)
        while depths.rem > 0 {
            let count = Int(library.visualCount(depths.data))
            let visuals = UnsafeBufferPointer(start: library.visuals(depths.data), count: count)
            if let visual = visuals.first(where: { $0.visual_id == screen.pointee.root_visual }) {
                return PixelFormat(
                    bitsPerPixel: Int(format.bits_per_pixel),
                    rowAlignment: Int(format.scanline_pad),
                    isLittleEndian: setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue),
                    red: visual.red_mask,
                    green: visual.green_mask,
                    blue: visual.blue_mask
                )
            }
            library.nextDepth(&depths)
        }
        return nil
    }

    private static func image(
        of screen: UnsafeMutablePointer<xcb_screen_t>,
        format: PixelFormat,
        connection: OpaquePointer?,
        library: XCBLibrary
    ) throws(DesktopError) -> QRImage {
        let (width, height) = (screen.pointee.width_in_pixels, screen.pointee.height_in_pixels)
        let format8 = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
        let cookie = library.getImage(connection, format8, screen.pointee.root, 0, 0, width, height, .max)
        var failure: UnsafeMutablePointer<xcb_generic_error_t>?
        let reply = library.imageReply(connection, cookie, &failure)
        defer {
            free(reply)
            free(failure)
        }
        guard let reply, let data = library.imageData(reply) else {
            throw DesktopError(.failed, message: "the X server gives no picture of the screen")
        }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(library.imageSize(reply)))
        guard let image = format.image(bytes, width: Int(width), height: Int(height)) else {
            throw DesktopError(.failed, message: "the X server's picture is cut off")
        }
        return image
    }
}
