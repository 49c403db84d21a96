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
