package import Base
package import Radio

/// A link to a Comodule module's application, and the requests that it supports.
///
/// Several tasks may use it at the same time: an operation with more than one exchange waits for
/// its turn.
package actor ComoduleClient {
    private let link: any Link
    private let time: any Timekeeper
    private let numbers: ComoduleLayout
    private let answerLimit: Duration
    /// The id of the record that the register held when it was last read on this link.
    private var held: UInt16?
    private var notifier: (any Subscription)?
    private let turn = AccessQueue()

    package init(
        link: any Link,
        time: any Timekeeper,
        layout: ComoduleLayout = ComoduleLayout(),
        answerLimit: Duration = ProfileShape.usualAnswerLimit
    ) {
        self.answerLimit = answerLimit
        self.link = link
        self.time = time
        numbers = layout
    }

    package func disconnect() async { await link.disconnect() }

    private var soon: Moment { time.now.advanced(by: answerLimit) }

    // MARK: Authentication

    package func authenticate(_ key: ComoduleKey) async throws(ModuleError) {
        var machine = ComoduleAuthentication(
            key: key,
            limit: answerLimit,
            sha1: SHA1.digest
        )
        var action = machine.begin(at: time.now)
        while true {
            let deadline = machine.deadline ?? soon
            do throws(RadioError) {
                switch action {
                case .readChallenge:
                    let bytes = try await link.read(numbers.challenge, before: deadline)
                    action = machine.challengeRead(bytes, at: time.now)
                case .writeResponse(let bytes):
                    try await link.write(bytes, to: numbers.response, before: deadline)
                    action = machine.responseWritten(at: time.now)
                case .readState:
                    let bytes = try await link.read(
                        numbers.authenticated,
                        before: deadline
                    )
                    action = machine.stateRead(bytes, at: time.now)
                case .wait:
                    action = machine.timeout(at: deadline)
                case .authenticated, .failed:
                    break
                }
            } catch {
                if error.endsExchange { throw .radio(error) }
                action = machine.linkFailed(error.linkFailure, at: time.now)
            }
            if case .authenticated = action { return }
            if case .failed(let error) = action { throw .authentication(error) }
        }
    }

    // MARK: Registers

    /// Reads a record; nil when the module has no such record.
    package func record(_ id: UInt16) async throws(ModuleError) -> ComoduleRecord? {
        // All readers share one selector: two of them at the same time would get each other's
        // records.
        await turn.take()
        defer { turn.end() }
        var machine = RegisterReader(id: id, held: held, limit: answerLimit)
        defer { held = machine.held }
        var action = machine.begin(at: time.now)
        while true {
            switch action {
            case .select(let bytes):
                switch await attempt({ (deadline) async throws(RadioError) in
                    try await self.link.write(
                        bytes,
                        to: numbers.selector,
                        before: deadline
                    )
                }) {
                case .success: action = machine.selected(at: time.now)
                case .failure(let error): action = try failed(error, &machine)
                }
            case .read(let moment):
                await time.sleep(until: moment, for: "a record to be loaded")
                switch await attempt({ (deadline) async throws(RadioError) in
                    try await self.link.read(numbers.register, before: deadline)
                }) {
                case .success(let bytes): action = machine.read(bytes, at: time.now)
                case .failure(let error): action = try failed(error, &machine)
                }
            case .wait:
                action = machine.timeout(at: machine.deadline ?? soon)
            case .record(let data):
                return ComoduleRecord(id: id, data: data)
            case .absent:
                return nil
            case .failed(let error):
                throw .register(error)
            }
        }
    }

    private func failed(
        _ error: RadioError,
        _ machine: inout RegisterReader
    ) throws(ModuleError) -> RegisterReader.Action {
        if error.endsExchange { throw .radio(error) }
        return machine.linkFailed(error.linkFailure, at: time.now)
    }

    private func attempt<R>(
        _ body: (Moment) async throws(RadioError) -> R
    ) async -> Result<R, RadioError> {
        do throws(RadioError) {
            return .success(try await body(soon))
        } catch {
            return .failure(error)
        }
    }

    /// Writes a record: a command or new values.
    package func write(_ record: ComoduleRecord) async throws(ModuleError) {
        await turn.take()
        defer { turn.end() }
        // From now on the register contains the record that was written to it.
        held = nil
        do throws(RadioError) {
            try await link.write(record.bytes, to: numbers.register, before: soon)
        } catch { throw .radio(error) }
    }

    // MARK: Key

    /// Gives the module another key, which is valid from now on.
    ///
    /// The module keeps it in memory immediately and in flash some time later, without reporting
    /// it: keep the old key until a new link was authenticated with the new one.
    package func changeKey(to key: ComoduleKey) async throws(ModuleError) {
        do throws(RadioError) {
            try await link.write(key.withBytes { $0 }, to: numbers.key, before: soon)
        } catch { throw .radio(error) }
    }

    // MARK: Firmware

    func text(_ characteristic: Characteristic) async throws(ModuleError) -> String {
        do throws(RadioError) {
            let bytes = try await link.read(characteristic, before: soon)
            // Some stacks send C strings with their terminating zero.
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        } catch { throw .radio(error) }
    }

    // MARK: Notifications

    /// Switches notifications on.
    ///
    /// From now on the newest notification is always available; older ones may be lost.
    package func listen() async throws(ModuleError) {
        do throws(RadioError) { _ = try await subscription() } catch { throw .radio(error) }
    }

    private func subscription() async throws(RadioError) -> any Subscription {
        if let notifier { return notifier }
        let subscription = try await link.subscribe(to: numbers.notifier, before: soon)
        notifier = subscription
        return subscription
    }

    /// The next record that the module sends unasked; nil when none arrived by the deadline.
    ///
    /// Values that are not records are skipped: they answer no request.
    package func notification(
        before deadline: Moment
    ) async throws(ModuleError) -> ComoduleRecord? {
        do throws(RadioError) {
            let subscription = try await subscription()
            while true {
                let bytes = try await subscription.next(before: deadline)
                if let record = ComoduleRecord(bytes) { return record }
            }
        } catch {
            guard error == .timedOut else { throw .radio(error) }
            return nil
        }
    }

    // MARK: Into the bootloader

    /// Announces the next image to the module.
    package func announce(_ record: PreflightRecord) async throws(ModuleError) {
        try await write(record.record)
    }

    /// The address at which its bootloader will advertise.
    package nonisolated var bootloaderPlace: Peer? { ButtonlessDoor(link: link, time: time).place }

    /// Starts the bootloader under this name; the module then ends the link.
    package func enterBootloader(as name: BootloaderName) async throws(ModuleError) {
        try await ButtonlessDoor(link: link, time: time).enter(as: name)
    }
}
