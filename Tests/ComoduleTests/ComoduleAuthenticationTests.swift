import Base
import Families
import Moments
import Radio
import Testing

private let challenge = [UInt8](0..<20)

/// Returns the input reversed instead of hashing it, because only the hashed bytes matter here.
private func machine() throws -> ComoduleAuthentication {
    let key = try ComoduleKey(Secret(Array(String(repeating: "11", count: 20).utf8)))
    return ComoduleAuthentication(key: key, sha1: { $0.reversed() })
}

/// A machine whose response is being written.
private func answering() throws -> ComoduleAuthentication {
    var machine = try machine()
    _ = machine.begin(at: at(0))
    _ = machine.challengeRead(challenge, at: at(1))
    return machine
}

/// A machine whose result is being read.
private func checking() throws -> ComoduleAuthentication {
    var machine = try answering()
    _ = machine.responseWritten(at: at(2))
    return machine
}

@Suite struct ComoduleAuthenticationTests {
    @Test func `the challenge and the key are hashed and the module says yes`() throws {
        var machine = try machine()
        #expect(machine.deadline == nil)
        #expect(machine.begin(at: at(0)) == .readChallenge)
        #expect(machine.deadline == at(10))
        let response = Array(repeating: UInt8(0x11), count: 20) + challenge.reversed()
        #expect(machine.challengeRead(challenge, at: at(1)) == .writeResponse(response))
        #expect(machine.deadline == at(11))
        #expect(machine.responseWritten(at: at(2)) == .readState)
        #expect(machine.deadline == at(12))
        #expect(machine.stateRead([1], at: at(3)) == .authenticated)
        #expect(machine.deadline == nil)
    }

    @Test(arguments: [0, 1, 19, 21, 512])
    func `a challenge of another length is an error`(length: Int) throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        let bytes = Array(repeating: UInt8(7), count: length)
        #expect(machine.challengeRead(bytes, at: at(1)) == .failed(.challengeLength(length)))
    }

    @Test func `state 0 is a refusal`() throws {
        var machine = try checking()
        #expect(machine.stateRead([0], at: at(3)) == .failed(.refused))
    }

    @Test(
        arguments: [
            ([], ComoduleAuthenticationError.unknownState(nil, length: 0)),
            ([2], .unknownState(2, length: 1)), ([1, 1], .unknownState(1, length: 2)),
        ] as [([UInt8], ComoduleAuthenticationError)]
    )
    func `a state that nobody knows is an error`(
        bytes: [UInt8],
        error: ComoduleAuthenticationError
    ) throws {
        var machine = try checking()
        #expect(machine.stateRead(bytes, at: at(3)) == .failed(error))
        #expect(error.failureClass == .device)
    }

    @Test func `a link lost before the response says nothing about the key`() throws {
        var machine = try machine()
        _ = machine.begin(at: at(0))
        #expect(machine.linkFailed(.lost, at: at(1)) == .failed(.link(.lost)))
    }

    @Test func `a link lost after the response may be a refusal`() throws {
        var machine = try answering()
        #expect(machine.linkFailed(.lost, at: at(2)) == .failed(.refusedOrLost))
        machine = try checking()
        #expect(machine.linkFailed(.lost, at: at(3)) == .failed(.refusedOrLost))
    }

    @Test func `an ATT error is passed on`() throws {
        var machine = try answering()
        let error = ComoduleAuthenticationError.link(.refused(code: 0x05))
        #expect(machine.linkFailed(.refused(code: 0x05), at: at(2)) == .failed(error))
    }

    @Test func `every exchange has a deadline`() throws {
        for var machine in [try answering(), try checking()] {
            #expect(machine.timeout(at: at(10)) == .wait)
            #expect(machine.timeout(at: at(12)) == .failed(.link(.timedOut)))
        }
        var idle = try machine()
        #expect(idle.timeout(at: at(99)) == .wait)
    }

    @Test func `events of another exchange change nothing`() throws {
        var machine = try machine()
        #expect(machine.stateRead([1], at: at(0)) == .wait)
        #expect(machine.responseWritten(at: at(0)) == .wait)
        #expect(machine.challengeRead(challenge, at: at(0)) == .wait)
        _ = machine.begin(at: at(0))
        #expect(machine.begin(at: at(0)) == .wait)
        #expect(machine.stateRead([1], at: at(0)) == .wait)
        #expect(machine.state == .asking)
    }

    @Test func `nothing changes a result`() throws {
        var machine = try checking()
        _ = machine.stateRead([0], at: at(3))
        #expect(machine.stateRead([1], at: at(4)) == .failed(.refused))
        #expect(machine.linkFailed(.lost, at: at(4)) == .failed(.refused))
        #expect(machine.begin(at: at(4)) == .failed(.refused))
        machine = try checking()
        _ = machine.stateRead([1], at: at(3))
        #expect(machine.linkFailed(.lost, at: at(4)) == .authenticated)
        #expect(machine.timeout(at: at(99)) == .authenticated)
    }

    @Test func `two links in a row that end after the response show a wrong key`() {
        var suspicion = SecretSuspicion()
        #expect(suspicion.failed(.refusedOrLost) == .tryAgain)
        #expect(suspicion.failed(ModuleError.authentication(.link(.lost)).secret) == .tryAgain)
        #expect(suspicion.failed(.refusedOrLost) == .wrongKey)
        #expect(suspicion.failed(.refusedOrLost) == .wrongKey)
    }

    @Test func `a success in between clears the suspicion, a refusal needs none`() {
        var suspicion = SecretSuspicion()
        #expect(suspicion.failed(.refusedOrLost) == .tryAgain)
        suspicion.authenticated()
        #expect(suspicion.failed(.refusedOrLost) == .tryAgain)
        #expect(suspicion.failed(.refused) == .wrongKey)
    }
}
