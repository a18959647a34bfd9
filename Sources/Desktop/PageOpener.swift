package import CompanionWire

/// Opens pages in the user's browser.
package struct PageOpener: Sendable {
    private static let patience = Duration.seconds(10)

    private let environment: [String: String]

    /// - Parameter environment: Names the desktop (`WAYLAND_DISPLAY`, else `DISPLAY`); the browser gets all of it.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// Asks the desktop to open a page. Does not wait for the browser.
    ///
    /// - Throws: ``DesktopError`` with the code `noScreen`, `noProgram` or `failed`; `CancellationError`.
    package func open(_ link: PageLink) async throws {
        guard ["WAYLAND_DISPLAY", "DISPLAY"].contains(where: { !environment[$0, default: ""].isEmpty }) else {
            throw DesktopError(.noScreen, message: "there is no desktop here that could open the page")
        }
        let shell = DesktopProgram(name: "sh", package: "dash", subject: "a page", patience: Self.patience)
        // A browser that is not running yet runs as long as the program that opens it.
        let script = "command -v xdg-open >/dev/null || exit 127; setsid -f xdg-open \"$1\" >/dev/null 2>&1"
        let answer = try await shell.run(["-c", script, "sh", link.url], environment: environment, limit: 1 << 10)
        guard answer.isSuccess else {
            throw DesktopError(
                .noProgram,
                message: "pages are opened by xdg-open, which is not installed",
                remedy: "sudo apt install xdg-utils"
            )
        }
    }
}
