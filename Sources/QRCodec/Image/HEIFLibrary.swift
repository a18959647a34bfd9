import CHEIF
import Glibc

/// The functions of libheif that are needed, from the library as it is installed.
///
/// It is opened when the first HEIC image is read: it brings video decoders, and no other command waits for them.
struct HEIFLibrary: Sendable {
    typealias Options = UnsafePointer<heif_decoding_options>

    let makeContext: @convention(c) @Sendable () -> OpaquePointer?
    let freeContext: @convention(c) @Sendable (OpaquePointer?) -> Void
    let limitSides: @convention(c) @Sendable (OpaquePointer?, Int32) -> Void
    let read: @convention(c) @Sendable (OpaquePointer?, UnsafeRawPointer?, Int, OpaquePointer?) -> heif_error
    let primary: @convention(c) @Sendable (OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?) -> heif_error
    let freeHandle: @convention(c) @Sendable (OpaquePointer?) -> Void
    let width: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let height: @convention(c) @Sendable (OpaquePointer?) -> Int32
    let decode:
        @convention(c) @Sendable (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, heif_colorspace, heif_chroma, Options?
        ) -> heif_error
    let freeImage: @convention(c) @Sendable (OpaquePointer?) -> Void
    let planeWidth: @convention(c) @Sendable (OpaquePointer?, heif_channel) -> Int32
    let planeHeight: @convention(c) @Sendable (OpaquePointer?, heif_channel) -> Int32
    let bits: @convention(c) @Sendable (OpaquePointer?, heif_channel) -> Int32
    let plane:
        @convention(c) @Sendable (OpaquePointer?, heif_channel, UnsafeMutablePointer<Int32>?) -> UnsafePointer<UInt8>?

    /// The library, or `nil` where it is not installed.
    static let installed = HEIFLibrary()

    private init?() {
        // Its symbols stay its own.
        guard let library = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func symbol<T>(_ name: String, as type: T.Type) -> T? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let makeContext = symbol("heif_context_alloc", as: type(of: makeContext)),
            let freeContext = symbol("heif_context_free", as: type(of: freeContext)),
            let limitSides = symbol("heif_context_set_maximum_image_size_limit", as: type(of: limitSides)),
            let read = symbol("heif_context_read_from_memory_without_copy", as: type(of: read)),
            let primary = symbol("heif_context_get_primary_image_handle", as: type(of: primary)),
            let freeHandle = symbol("heif_image_handle_release", as: type(of: freeHandle)),
            let width = symbol("heif_image_handle_get_width", as: type(of: width)),
            let height = symbol("heif_image_handle_get_height", as: type(of: height)),
            let decode = symbol("heif_decode_image", as: type(of: decode)),
            let freeImage = symbol("heif_image_release", as: type(of: freeImage)),
            let planeWidth = symbol("heif_image_get_width", as: type(of: planeWidth)),
            let planeHeight = symbol("heif_image_get_height", as: type(of: planeHeight)),
            let bits = symbol("heif_image_get_bits_per_pixel_range", as: type(of: bits)),
            let plane = symbol("heif_image_get_plane_readonly", as: type(of: plane))
        else { return nil }
        self.makeContext = makeContext
        self.freeContext = freeContext
        self.limitSides = limitSides
        self.read = read
        self.primary = primary
        self.freeHandle = freeHandle
        self.width = width
        self.height = height
        self.decode = decode
        self.freeImage = freeImage
        self.planeWidth = planeWidth
        self.planeHeight = planeHeight
        self.bits = bits
        self.plane = plane
    }
}
