import Base
import Radio
import Store

/// Makes the module carry out features.
struct FeatureStep: StepPerformer {
    let orders: [FeatureOrder]

    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        for (index, order) in orders.enumerated() {
            do throws(Halt) { try await perform(order, on: execution) } catch {
                // A value may be set again. What is no value is not repeated because one after it has failed.
                guard let done = orders[..<index].first(where: { $0.spec.payload == .none }),
                    let sentence = error.sentence
                else { throw error }
                throw .verdict(
                    .inDoubt,
                    .inDoubt,
                    "feature \(done.spec.name) was carried out, but not all of the step: \(sentence)"
                )
            }
        }
        return []
    }

    private func perform(_ order: FeatureOrder, on execution: Execution) async throws(Halt) {
        // A doubt about the one before was settled over a link of its own.
        guard let client = try await execution.present().features else {
            throw .verdict(.rejected, .rejected, "modules of its family have no features")
        }
        let nonce = (0..<2).flatMap { _ in execution.depot.chance().bigBytes }.prefix(12)
        do throws(FeatureError) {
            try await client.perform(order.spec, order.payload, nonce: Array(nonce))
        } catch {
            let doing = "feature \(order.spec.name)"
            switch error {
            case .noCredentials(let sentence): throw .verdict(.rejected, .rejected, sentence)
            case .inDoubt(let sentence):
                guard let found = try await state(after: order, on: execution) else {
                    throw .verdict(.inDoubt, .inDoubt, "\(doing): \(sentence)")
                }
                guard found == order.literal else {
                    throw .failure(.transient, "\(doing): \(sentence); it is \(found)")
                }
            case .radio(let radio): throw Halt(radio, doing)
            case .failed(.rejected, let sentence):
                // A change of its secret may be open, after which it refuses what the old one has sealed.
                execution.isSuspected = true
                throw .verdict(.failed, .rejected, "\(doing): \(sentence)")
            case .failed(let failure, let sentence):
                throw .failure(failure, "\(doing): \(sentence)")
            }
        }
    }

    /// The state that the module reports after an order with an unknown result; nil when it does
    /// not report, or has no state of that name.
    private func state(
        after order: FeatureOrder,
        on execution: Execution
    ) async throws(Halt) -> String? {
        guard case .states = order.spec.payload else { return nil }
        await execution.hangUp()
        do throws(Halt) {
            let holder = try await execution.holder()
            guard await holder.property(order.spec.name) != nil else { return nil }
            do throws(PropertyReadError) {
                return try await holder.read(order.spec.name).text
            } catch { return nil }
        } catch {
            // Whatever kept it from being read, also the end of the run, its state stays unknown.
            if case .journal = error { throw error }
            return nil
        }
    }
}

extension Halt {
    /// Why not all of a step was carried out; nil when that is for the journal to say.
    fileprivate var sentence: String? {
        switch self {
        case .verdict(_, _, let sentence), .failure(_, let sentence), .elsewhere(let sentence):
            sentence
        case .host(let error): error.description
        case .stopped: "the run was ended"
        case .paid, .journal: nil
        }
    }
}
