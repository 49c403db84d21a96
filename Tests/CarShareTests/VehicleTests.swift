import Base
import Families
import Radio
import Samples
import Simulation
import Testing

/// Commands to a simulated vehicle, from the token to its doors.
@Suite struct VehicleTests {
    @Test func `a lock is carried out and reported`() throws {
        let bench = try CarShareBench()
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock))
        #expect(outcomes == [.success(CarShareReport(isSuccess: true))])
        #expect(seen.executed == [CarShareCommands(.lock)])
        #expect(seen.vehicle.isLocked)
        #expect(bench.notes.all == [])
    }

    @Test(arguments: CarShareCommand.allCases.filter { $0 != .checkOut })
    func `every command is carried out`(command: CarShareCommand) throws {
        let bench = try CarShareBench()
        let (outcomes, seen) = try bench.send(CarShareCommands(command))
        #expect(outcomes == [.success(CarShareReport(isSuccess: true))])
        #expect(seen.executed == [CarShareCommands(command)])
    }

    @Test func `several commands go in one request`() throws {
        let all = try #require(CarShareCommands([.checkIn, .unlockAll, .ignitionEnable]))
        let bench = try CarShareBench()
        let (outcomes, seen) = try bench.send(all, CarShareCommands(.checkOut))
        #expect(outcomes.allSucceeded)
        #expect(seen.executed == [all, CarShareCommands(.checkOut)])
        #expect(seen.vehicle.reservation == nil)
    }

    @Test func `commands follow each other on one link`() throws {
        let bench = try CarShareBench()
        let (outcomes, seen) = try bench.sendOnOneLink(
            CarShareCommands(.unlockAll),
            CarShareCommands(.locate),
            CarShareCommands(.lock)
        )
        #expect(outcomes.count == 3)
        #expect(outcomes.allSucceeded)
        #expect(seen.links == 1)
        #expect(seen.vehicle.isLocked)
    }

    @Test(arguments: [23, 48, 185, 247, 517])
    func `it works at every size of a notification`(mtu: Int) throws {
        let bench = try CarShareBench { $0.link.mtu = mtu }
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock))
        #expect(outcomes == [.success(CarShareReport(isSuccess: true))])
        #expect(seen.received == 1)
    }

    @Test func `a second tenant's token is taken where its key is known`() throws {
        let issuer = try #require(
            GOTokenIssuer(tenant: Keys.otherTenant, reservation: Keys.reservation)
        )
        let token = try #require(issuer.token(CarShareBench.reservation()))
        let known = try CarShareBench(token: token) { $0.tenants.append(issuer.modulus) }
        #expect(try known.send(CarShareCommands(.lock)).outcomes.allSucceeded)
        let unknown = try CarShareBench(token: token)
        let (outcomes, seen) = try unknown.send(CarShareCommands(.lock))
        #expect(outcomes[0].error?.reason == .session(.nack(.unknownKey)))
        #expect(outcomes[0].error?.fate == .refused)
        #expect(outcomes[0].error?.failureClass == .rejected)
        #expect(seen.executed.isEmpty)
    }

    @Test(arguments: [0, 1, 2])
    func `strangers that subscribe do not keep the vehicle away`(count: Int) throws {
        let bench = try CarShareBench { $0.strayCentrals = count }
        let (outcomes, _) = try bench.send(CarShareCommands(.lock))
        #expect(outcomes.allSucceeded)
    }

    @Test(arguments: [1, 3, 4, 7, 10])
    func `a vehicle that takes long to subscribe is served`(seconds: Int) throws {
        let bench = try CarShareBench { $0.reactionTime = .seconds(seconds) }
        #expect(try bench.send(CarShareCommands(.lock)).outcomes.allSucceeded)
    }

    @Test func `without a vehicle the time ends, and nothing was sent`() throws {
        let bench = try CarShareBench { $0.isInReach = false }
        let outcome = try bench.simulation.run { () async -> (CarShareBench.Outcome, Duration) in
            await bench.setUp()
            let began = bench.simulation.time.now
            let outcome = await bench.attempt(CarShareCommands(.lock))
            return (outcome, began.duration(to: bench.simulation.time.now))
        }
        #expect(outcome.0.error == CarShareError(.notSent, .socket(.nobodyCame)))
        #expect(outcome.0.error?.failureClass == .unreachable)
        #expect(outcome.1 == .seconds(90))
    }

    @Test func `a deadline ends the wait for a vehicle`() throws {
        let bench = try CarShareBench { $0.isInReach = false }
        let took = try bench.simulation.run { () async -> Duration in
            await bench.setUp()
            let time = bench.simulation.time
            let began = time.now
            _ = await bench.attempt(
                CarShareCommands(.lock),
                before: began.advanced(by: .seconds(7))
            )
            return began.duration(to: time.now)
        }
        #expect(took == .seconds(7))
    }

    @Test func `an adapter that is off is said`() throws {
        let bench = try CarShareBench()
        let outcome = try bench.simulation.run {
            await bench.setUp()
            await bench.simulation.air.setPower("hci0", on: false)
            return await bench.attempt(CarShareCommands(.lock))
        }
        #expect(outcome.error == CarShareError(.notSent, .socket(.radio(.off))))
        #expect(outcome.error?.description == "the Bluetooth adapter is switched off")
    }

    @Test(arguments: [1_200, 3_000])
    func `an adapter that goes off ends the command with what is known`(after: Int) throws {
        let bench = try CarShareBench { $0.operationTime = .seconds(20) }
        let outcome = try bench.simulation.run {
            await bench.setUp()
            return await withTaskGroup(of: CarShareBench.Outcome?.self) { group in
                group.addTask { await bench.attempt(CarShareCommands(.lock)) }
                group.addTask {
                    let time = bench.simulation.time
                    await time.sleep(for: .milliseconds(after), "the adapter to be on")
                    await bench.simulation.air.setPower("hci0", on: false)
                    return nil
                }
                var outcome: CarShareBench.Outcome?
                for await result in group { outcome = result ?? outcome }
                return outcome
            }
        }
        let error = try #require(outcome?.error)
        #expect(error.reason == .radio(.linkLost))
        #expect(error.fate == .inDoubt)
        #expect(error.failureClass == .inDoubt)
    }

    @Test func `a cancelled command ends at once`() throws {
        let bench = try CarShareBench { $0.operationTime = .seconds(50) }
        let (outcome, took) = try bench.simulation.run {
            () async -> (CarShareBench.Outcome?, Duration) in
            await bench.setUp()
            let time = bench.simulation.time
            let began = time.now
            let outcome = await withTaskGroup(of: CarShareBench.Outcome.self) { group in
                group.addTask { await bench.attempt(CarShareCommands(.lock)) }
                await time.sleep(for: .seconds(4), "the command to be under way")
                group.cancelAll()
                return await group.next()
            }
            return (outcome, began.duration(to: time.now))
        }
        #expect(outcome?.error == CarShareError(.inDoubt, .radio(.cancelled)))
        #expect(took < .seconds(5))
    }

}
