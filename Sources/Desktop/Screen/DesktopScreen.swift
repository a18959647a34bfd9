/// How the screen of a desktop session can be looked at.
package enum DesktopScreen: Sendable, Hashable {
    /// All of the X server's screen, as any of its clients may see it.
    case x11(display: String)
    /// By way of the desktop portal, which asks the user.
    case portal

    /// The way that fits the session. An X server within a Wayland session shows nothing of it.
    ///
    /// - Throws: ``DesktopError/Code/noScreen``.
    package init(environment: [String: String]) throws(DesktopError) {
        func has(_ name: String) -> Bool { environment[name, default: ""].isEmpty == false }
        if has("WAYLAND_DISPLAY") {
            self = .portal
        } else if has("DISPLAY") {
            self = .x11(display: environment["DISPLAY", default: ""])
        } else {
            throw DesktopError(
                .noScreen,
                message: "there is no screen to look at: neither DISPLAY nor WAYLAND_DISPLAY is set",
                remedy: "run it in a terminal of the desktop, or save a picture of the code: pairtool pair --qr FILE"
            )
        }
    }
}
