import LocalState
import Testing

@Suite struct PathsTests {
    @Test("Directories follow the variables of the XDG specification; relative ones are ignored")
    func variables() {
        let paths = Paths(environment: ["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "s"])
        #expect(paths.data == "/d/pairtool")
        #expect(paths.state == "/h/.local/state/pairtool")
    }

    @Test("Without a runtime directory, sockets are kept with the state", arguments: ["", "run", nil])
    func runtime(value: String?) {
        var environment = ["HOME": "/h"]
        environment["XDG_RUNTIME_DIR"] = value
        #expect(Paths(environment: environment).runtime == "/h/.local/state/pairtool/run")
        environment["XDG_RUNTIME_DIR"] = "/run/user/1"
        #expect(Paths(environment: environment).runtime == "/run/user/1/pairtool")
    }
}
