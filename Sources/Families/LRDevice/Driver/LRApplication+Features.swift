import Base
package import Radio

extension LRApplication: FeatureHolder {
    package func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        guard let message = message(feature, payload, nonce) else {
            throw .noCredentials(LRError.noCredentials.description)
        }
        let command = LRCommand(
            rawValue: UInt16(feature.command) << 8 | UInt16(feature.namespace)
        )
        do throws(LRError) {
            let reply = try await client.ask(
                command,
                isSealed: message.isSealed,
                payload: message.payload
            )
            // A reply that repeats the request's payload is not a status.
            if reply.count == 1, feature.refusals.contains(reply[0]), reply != message.payload {
                throw .refused(command)
            }
        } catch {
            if error.leavesDoubt { throw .inDoubt(error.description) }
            if case .radio(let radio) = error { throw .radio(radio) }
            throw .failed(error.failureClass, error.description)
        }
    }

    /// Sends a request once; with `isSealed`, its payload is sealed with the device's key.
    package func ask(
        _ command: LRCommand,
        _ payload: [UInt8],
        isSealed: Bool,
        nonce: [UInt8]
    ) async throws(LRError) -> [UInt8] {
        guard isSealed else { return try await client.ask(command, payload: payload) }
        guard let key = credentials.flatMap({ SealingKey($0.key) }),
            let box = key.seal(payload, nonce: nonce)
        else { throw .noCredentials }
        return try await client.ask(command, isSealed: true, payload: box)
    }

    /// The message to send; nil when it needs credentials that are missing.
    private func message(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        _ nonce: [UInt8]
    ) -> (payload: [UInt8], isSealed: Bool)? {
        guard feature.seal != .none else { return (payload, false) }
        guard let credentials, let key = SealingKey(credentials.key) else { return nil }
        switch feature.seal {
        case .none: return (payload, false)
        case .payload: return key.seal(payload, nonce: nonce).map { ($0, true) }
        case .password:
            return credentials.password.withBytes { key.seal($0, nonce: nonce) }
                .map { (payload + $0, true) }
        }
    }
}
