import Base
import Families
import Radio
import Store

/// Sends car-share commands to a GO device.
struct CarShareStep: StepPerformer {
    let commands: CarShareCommands

    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        execution.hasSent = false
        let (job, depot, time) = (execution.job, execution.depot, execution.time)
        guard let supply = job.carShare, let peripheral = depot.peripheral else {
            throw .verdict(.rejected, .rejected, "there is no token for its GO device")
        }
        // The adapter changes to the peripheral role: a link to the module would occupy it.
        await execution.hangUp()
        let credentials: CarShareCredentials
        do throws(TokenSupply.Fault) {
            credentials = try await supply.credentials(at: time.wallTime)
        } catch {
            switch error {
            case .later(let sentence): throw .elsewhere(sentence)
            case .wrong(let sentence): throw .verdict(.rejected, .rejected, sentence)
            }
        }
        let device = CarShareVehicle(
            peripheral: peripheral,
            credentials: credentials,
            bond: job.driver.recogniser.form == nil ? job.bond : .unbonded,
            time: time,
            phases: { phase in
                guard phase == .ready else { return }
                // Only now the vehicle has answered.
                for state in [ExecutionState.authenticating, .acting] {
                    depot.events.emit(
                        .stateChanged(
                            job.vehicle,
                            state,
                            adapter: depot.central.adapter,
                            detail: state == .acting ? commands.description : nil
                        )
                    )
                }
            }
        )
        do throws(CarShareError) {
            let report = try await device.send(
                commands,
                before: time.now.advanced(by: depot.rules.commandTimeout)
            )
            return report.statuses.enumerated().map { index, status in
                Fact("status \(index + 1)", status.description)
            }
        } catch {
            execution.hasSent = error.fate != .notSent
            throw halt(after: error)
        }
    }

    private func halt(after error: CarShareError) -> Halt {
        switch error.fate {
        case .inDoubt where commands.isHarmless:
            // It may be sent again until it is answered.
            return .failure(.transient, error.description)
        case .inDoubt: return .verdict(.inDoubt, .inDoubt, "\(error); \(commands.check)")
        case .failed where !commands.isHarmless && commands.list.count > 1:
            // Some of them may be done.
            return .verdict(.inDoubt, .inDoubt, "\(error); \(commands.check)")
        case .failed: return .verdict(.failed, error.failureClass, error.description)
        case .notSent, .refused:
            if let radio = error.radioError { return Halt(radio, "as a peripheral") }
            return .failure(error.failureClass, error.description)
        }
    }
}
