import CXCB
import Glibc

/// The functions of libxcb that are needed, from the library as it is installed.
///
/// libxcb, for libX11 ends the process when the server goes away.
struct XCBLibrary: Sendable {
    typealias Connection = OpaquePointer?

    let connect: @convention(c) @Sendable (UnsafePointer<CChar>?, UnsafeMutablePointer<Int32>?) -> Connection
    let hasError: @convention(c) @Sendable (Connection) -> Int32
    let disconnect: @convention(c) @Sendable (Connection) -> Void
    let setup: @convention(c) @Sendable (Connection) -> UnsafePointer<xcb_setup_t>?
    let screens: @convention(c) @Sendable (UnsafePointer<xcb_setup_t>?) -> xcb_screen_iterator_t
    let nextScreen: @convention(c) @Sendable (UnsafeMutablePointer<xcb_screen_iterator_t>?) -> Void
    let formats: @convention(c) @Sendable (UnsafePointer<xcb_setup_t>?) -> UnsafeMutablePointer<xcb_format_t>?
    let formatCount: @convention(c) @Sendable (UnsafePointer<xcb_setup_t>?) -> Int32
    let depths: @convention(c) @Sendable (UnsafePointer<xcb_screen_t>?) -> xcb_depth_iterator_t
    let nextDepth: @convention(c) @Sendable (UnsafeMutablePointer<xcb_depth_iterator_t>?) -> Void
    let visuals: @convention(c) @Sendable (UnsafePointer<xcb_depth_t>?) -> UnsafeMutablePointer<xcb_visualtype_t>?
    let visualCount: @convention(c) @Sendable (UnsafePointer<xcb_depth_t>?) -> Int32
    let getImage:
        @convention(c) @Sendable (
            Connection, UInt8, xcb_drawable_t, Int16, Int16, UInt16, UInt16, UInt32
        ) -> xcb_get_image_cookie_t
    let imageReply:
        @convention(c) @Sendable (
            Connection, xcb_get_image_cookie_t, UnsafeMutablePointer<UnsafeMutablePointer<xcb_generic_error_t>?>?
        ) -> UnsafeMutablePointer<xcb_get_image_reply_t>?
    let imageData: @convention(c) @Sendable (UnsafePointer<xcb_get_image_reply_t>?) -> UnsafeMutablePointer<UInt8>?
    let imageSize: @convention(c) @Sendable (UnsafePointer<xcb_get_image_reply_t>?) -> Int32

    /// The library, or `nil` where it is not installed.
    static let installed = XCBLibrary()

    private init?() {
        guard let library = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func symbol<T>(_ name: String, as type: T.Type) -> T? {
            dlsym(library, "xcb_" + name).map { unsafeBitCast($0, to: type) }
        }
        guard let connect = symbol("connect", as: type(of: connect)),
            let hasError = symbol("connection_has_error", as: type(of: hasError)),
            let disconnect = symbol("disconnect", as: type(of: disconnect)),
            let setup = symbol("get_setup", as: type(of: setup)),
            let screens = symbol("setup_roots_iterator", as: type(of: screens)),
            let nextScreen = symbol("screen_next", as: type(of: nextScreen)),
            let formats = symbol("setup_pixmap_formats", as: type(of: formats)),
            let formatCount = symbol("setup_pixmap_formats_length", as: type(of: formatCount)),
            let depths = symbol("screen_allowed_depths_iterator", as: type(of: depths)),
            let nextDepth = symbol("depth_next", as: type(of: nextDepth)),
            let visuals = symbol("depth_visuals", as: type(of: visuals)),
            let visualCount = symbol("depth_visuals_length", as: type(of: visualCount)),
            let getImage = symbol("get_image", as: type(of: getImage)),
            let imageReply = symbol("get_image_reply", as: type(of: imageReply)),
            let imageData = symbol("get_image_data", as: type(of: imageData)),
            let imageSize = symbol("get_image_data_length", as: type(of: imageSize))
        else { return nil }
        self.connect = connect
        self.hasError = hasError
        self.disconnect = disconnect
        self.setup = setup
        self.screens = screens
        self.nextScreen = nextScreen
        self.formats = formats
        self.formatCount = formatCount
        self.depths = depths
        self.nextDepth = nextDepth
        self.visuals = visuals
        self.visualCount = visualCount
        self.getImage = getImage
        self.imageReply = imageReply
        self.imageData = imageData
        self.imageSize = imageSize
    }
}
