package import Base

extension VehicleLink {
    /// Gives the module right and wrong answers, each on a link of its own; throws when it accepts
    /// a wrong one, or refuses right ones.
    ///
    /// `reach` makes a link, `right` and `wrong` give the answers. After an error that says nothing
    /// about the answer, the same interrogation goes on.
    package func interrogate(
        _ interrogation: inout Interrogation,
        chance: @Sendable () -> UInt64,
        reach: () async throws(ModuleError) -> any Link,
        right: (any Link) async throws(ModuleError) -> Void,
        wrong: (any Link) async throws(ModuleError) -> Void
    ) async throws(ModuleError) {
        while let answer = interrogation.next(chance()) {
            let link = try await reach()
            var refusal: ModuleError?
            do throws(ModuleError) {
                switch answer {
                case .right: try await right(link)
                case .wrong: try await wrong(link)
                }
            } catch { refusal = error }
            await close()
            if let refusal, refusal.secret == nil { throw refusal }
            switch refusal == nil ? interrogation.accepted() : interrogation.refused() {
            case .goOn: continue
            case .impostor: throw impostor(at: link.peer)
            case .refusesOurs:
                // Not to be repeated at once: each repetition is another chance to guess.
                throw .exchange(
                    ExchangeFault(
                        .authentication,
                        .device,
                        .plain,
                        "the module refused right answers, or its link was lost each time"
                    )
                )
            }
        }
    }

    private func impostor(at peer: Peer) -> ModuleError {
        .exchange(
            ExchangeFault(
                .authentication,
                .rejected,
                .plain,
                "the one at \(peer) accepts wrong answers: it is an impostor that claims the "
                    + "serial \(serial), and nothing is known of the module"
            )
        )
    }

    /// Throws when the module accepts an answer that it must refuse.
    package func expectsRefusal(
        reach: () async throws(ModuleError) -> any Link,
        of wrong: (any Link) async throws(ModuleError) -> Void
    ) async throws(ModuleError) {
        let link = try await reach()
        do throws(ModuleError) {
            try await wrong(link)
        } catch {
            await close()
            guard error.secret != nil else { throw error }
            return
        }
        await close()
        throw impostor(at: link.peer)
    }

    /// Finds the module and connects to it; nothing is opened yet.
    package func reach(
        _ recogniser: ModuleRecogniser,
        before deadline: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> any Link {
        do throws(RadioError) {
            let found = try await seek(recogniser, before: deadline, unless: isStopped)
            guard let found else { throw RadioError.timedOut }
            try await connect(to: found)
        } catch { throw .radio(error) }
        return try connected()
    }
}
