import Base
import Families
import Moments
import Radio
import Testing

private func name() throws -> BootloaderName {
    let serial = try #require(Serial("0011223344556677"))
    return try #require(BootloaderName(of: serial))
}

private func answer(_ operation: UInt8, _ result: ButtonlessResponse.Result) -> [UInt8] {
    ButtonlessResponse(operation: operation, result: result).bytes
}

/// An entry whose name is being set.
private func naming(mayGoUnnamed: Bool = false) throws -> ButtonlessEntry {
    var entry = ButtonlessEntry(name: try name(), mayGoUnnamed: mayGoUnnamed)
    _ = entry.begin(at: at(0))
    _ = entry.subscribed(at: at(1))
    return entry
}

/// An entry whose module has been asked to restart.
private func entering() throws -> ButtonlessEntry {
    var entry = try naming()
    _ = entry.indicated(answer(2, .success), at: at(2))
    return entry
}

@Suite struct ButtonlessEntryTests {
    @Test func `the bootloader is named and entered`() throws {
        let name = try name()
        var entry = ButtonlessEntry(name: name)
        #expect(entry.begin(at: at(0)) == .subscribe)
        #expect(entry.deadline == at(10))
        #expect(entry.subscribed(at: at(1)) == .write(.setName(name)))
        #expect(entry.deadline == at(11))
        #expect(entry.indicated(answer(2, .success), at: at(2)) == .write(.enterBootloader))
        #expect(entry.deadline == at(12))
        #expect(entry.indicated(answer(1, .success), at: at(3)) == .entered(.named(name)))
        #expect(entry.deadline == nil)
    }

    @Test func `without a name it is entered at once`() {
        var entry = ButtonlessEntry(name: nil)
        _ = entry.begin(at: at(0))
        #expect(entry.subscribed(at: at(1)) == .write(.enterBootloader))
        #expect(entry.indicated(answer(1, .success), at: at(2)) == .entered(.unnamed))
    }

    @Test func `a link that ends after the request counts as entered`() throws {
        var entry = try entering()
        #expect(entry.linkFailed(.lost, at: at(3)) == .entered(.named(try name())))
    }

    @Test func `a link that ends before the request does not`() throws {
        var entry = try naming()
        #expect(entry.linkFailed(.lost, at: at(3)) == .failed(.link(.lost)))
        entry = ButtonlessEntry(name: nil)
        _ = entry.begin(at: at(0))
        #expect(entry.linkFailed(.lost, at: at(3)) == .failed(.link(.lost)))
    }

    @Test func `a module without names goes on only where that is allowed`() throws {
        var entry = try naming(mayGoUnnamed: true)
        #expect(entry.indicated(answer(2, .notSupported), at: at(2)) == .write(.enterBootloader))
        #expect(entry.indicated(answer(1, .success), at: at(3)) == .entered(.nameNotSupported))
        entry = try naming()
        let error = ButtonlessError.refused(.naming, .notSupported)
        #expect(entry.indicated(answer(2, .notSupported), at: at(2)) == .failed(error))
    }

    @Test(arguments: [
        (ButtonlessResponse.Result.busy, FailureClass.transient), (.failed, .device),
        (.notSupported, .device), (.badName, .device), (.notBonded, .rejected),
    ])
    func `a refusal has its class`(
        result: ButtonlessResponse.Result,
        failure: FailureClass
    ) throws {
        var first = try naming()
        var second = try entering()
        let errors = [ButtonlessError.refused(.naming, result), .refused(.entering, result)]
        #expect(first.indicated(answer(2, result), at: at(3)) == .failed(errors[0]))
        #expect(second.indicated(answer(1, result), at: at(3)) == .failed(errors[1]))
        #expect(errors.allSatisfy { $0.failureClass == failure })
    }

    @Test(arguments: [[], [0x20], [0x20, 1], [0x60, 1, 1], [0x20, 1, 9], [0x20, 1, 1, 1]])
    func `an indication that makes no sense is an error`(bytes: [UInt8]) throws {
        var entry = try entering()
        #expect(entry.indicated(bytes, at: at(3)) == .failed(.malformed(bytes)))
        entry = try naming()
        #expect(entry.indicated(bytes, at: at(3)) == .failed(.malformed(bytes)))
    }

    @Test func `the answer to another request is passed over, but not forever`() throws {
        var entry = try entering()
        #expect(entry.indicated(answer(2, .success), at: at(3)) == .wait)
        #expect(entry.indicated(answer(2, .failed), at: at(11)) == .wait)
        #expect(entry.indicated(answer(2, .failed), at: at(12)) == .failed(.noAnswer(.entering)))
    }

    @Test func `a silent module is given up, and what it was asked last is reported`() throws {
        for (entry, asked) in [
            (try naming(), ButtonlessError.Request.naming),
            (try entering(), .entering),
        ] {
            var entry = entry
            #expect(entry.timeout(at: at(5)) == .wait)
            #expect(entry.timeout(at: at(12)) == .failed(.noAnswer(asked)))
        }
    }

    @Test func `a refused write is an error even of the last request`() throws {
        var entry = try entering()
        let failure = LinkFailure.refused(code: 0xFD)
        #expect(entry.linkFailed(failure, at: at(3)) == .failed(.link(failure)))
    }

    @Test func `events that belong nowhere change nothing`() throws {
        var entry = ButtonlessEntry(name: nil)
        #expect(entry.indicated([0xFF], at: at(0)) == .wait)
        #expect(entry.subscribed(at: at(0)) == .wait)
        #expect(entry.timeout(at: at(99)) == .wait)
        _ = entry.begin(at: at(0))
        #expect(entry.begin(at: at(1)) == .wait)
        #expect(entry.indicated([0xFF], at: at(1)) == .wait)
        _ = entry.subscribed(at: at(1))
        #expect(entry.subscribed(at: at(2)) == .wait)
        _ = entry.linkFailed(.lost, at: at(2))
        #expect(entry.indicated(answer(1, .failed), at: at(3)) == .entered(.unnamed))
        #expect(entry.linkFailed(.timedOut, at: at(3)) == .entered(.unnamed))
        #expect(entry.begin(at: at(3)) == .entered(.unnamed))
    }
}
