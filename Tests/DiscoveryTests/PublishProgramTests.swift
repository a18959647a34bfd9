import Discovery
import Testing

@Suite("The publishing state machine")
struct PublishProgramTests {
    private let lost = DiscoveryError(.engineLost, message: "gone")

    private func program() -> PublishProgram {
        PublishProgram(name: "A", alternative: { $0 + "+" })
    }

    @Test("It publishes when the host name is established, not before")
    func publishes() {
        var program = program()
        #expect(program.connected(to: .embedded) == [])
        #expect(program.handle(.registering) == [.withdraw])
        #expect(program.handle(.ready) == [.publish(name: "A")])
        #expect(program.handle(.published) == [.emit(.published(name: "A", engine: .embedded))])
    }

    @Test("It takes another name after each collision")
    func renames() {
        var program = program()
        _ = program.handle(.ready)
        #expect(program.handle(.nameCollision) == [.emit(.renamed(from: "A", to: "A+")), .publish(name: "A+")])
        #expect(program.handle(.nameCollision) == [.emit(.renamed(from: "A+", to: "A++")), .publish(name: "A++")])
        #expect(program.handle(.published) == [.emit(.published(name: "A++", engine: .embedded))])
    }

    @Test("It gives a connection up after a hundred names that were taken")
    func renameLimit() {
        var program = program()
        _ = program.handle(.ready)
        for _ in 0..<PublishProgram.renameLimit { _ = program.handle(.nameCollision) }
        guard case .reconnect(let error)? = program.handle(.nameCollision).first else {
            Issue.record("it went on")
            return
        }
        #expect(error.code == .nameCollision)
    }

    @Test("It withdraws and changes the host name when that is taken")
    func hostName() {
        var program = program()
        #expect(program.handle(.hostNameCollision) == [.withdraw, .renameHost])
    }

    @Test("After an interruption it publishes again, under the name that it had")
    func resumes() {
        var program = program()
        _ = program.handle(.ready)
        _ = program.handle(.nameCollision)
        _ = program.handle(.published)
        #expect(program.disconnected(lost) == [.emit(.interrupted(lost))])
        _ = program.connected(to: .embedded)
        #expect(program.handle(.ready) == [.publish(name: "A+")])
        #expect(
            program.handle(.published) == [.emit(.resumed), .emit(.published(name: "A+", engine: .embedded))]
        )
    }

    @Test("An engine that refuses to publish is connected to anew")
    func refused() {
        var program = program()
        let error = DiscoveryError(.publishFailed, message: "no")
        #expect(program.handle(.publishFailed(error)) == [.reconnect(error)])
    }
}
