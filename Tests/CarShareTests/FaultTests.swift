import Base
import Families
import Radio
import Simulation
import Testing

/// Faults of the vehicle, and the error that is reported for the command.
@Suite struct FaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let fault: GOPlan.Fault.Kind
        let fate: CarShareFate
        let reason: CarShareError.Reason
        let failureClass: FailureClass
        /// Whether the vehicle carried out the command all the same.
        var isExecuted = false

        var testDescription: String { "\(fault)" }
    }

    private static let cases = [
        Case(
            fault: .noHandshake,
            fate: .notSent,
            reason: .session(.handshake(.noRequest)),
            failureClass: .transient
        ),
        Case(
            fault: .noHandshakeAcknowledgement,
            fate: .notSent,
            reason: .session(.handshake(.noAcknowledgement)),
            failureClass: .transient
        ),
        Case(
            fault: .challengeLength(31),
            fate: .notSent,
            reason: .session(.challenge(.length(34))),
            failureClass: .device
        ),
        Case(
            fault: .challengeLength(0),
            fate: .notSent,
            reason: .session(.challenge(.length(3))),
            failureClass: .device
        ),
        Case(
            fault: .wrongChecksum,
            fate: .notSent,
            reason: .session(.damaged(.checksum)),
            failureClass: .transient
        ),
        Case(
            fault: .noReply(in: .request),
            fate: .notSent,
            reason: .session(.silence(.requestReply)),
            failureClass: .transient
        ),
        Case(
            fault: .rejects(in: .request),
            fate: .refused,
            reason: .session(.requestRejected),
            failureClass: .transient
        ),
        Case(
            fault: .noChallenge,
            fate: .notSent,
            reason: .session(.silence(.challenge)),
            failureClass: .transient
        ),
        Case(
            fault: .noReply(in: .command),
            fate: .inDoubt,
            reason: .session(.silence(.commandReply)),
            failureClass: .inDoubt
        ),
        Case(
            fault: .rejects(in: .command),
            fate: .refused,
            reason: .session(.commandRejected),
            failureClass: .transient
        ),
        Case(
            fault: .nack(4),
            fate: .refused,
            reason: .session(.nack(.commandSignature)),
            failureClass: .rejected
        ),
        Case(
            fault: .nack(7),
            fate: .refused,
            reason: .session(.nack(.busy)),
            failureClass: .transient
        ),
        Case(
            fault: .nack(200),
            fate: .refused,
            reason: .session(.nack(CarShareRefusal(rawValue: 200))),
            failureClass: .device
        ),
        Case(
            fault: .noAcknowledgement,
            fate: .inDoubt,
            reason: .session(.silence(.verdict)),
            failureClass: .inDoubt,
            isExecuted: true
        ),
        Case(
            fault: .noResult,
            fate: .inDoubt,
            reason: .session(.silence(.result)),
            failureClass: .inDoubt,
            isExecuted: true
        ),
        Case(
            fault: .lateResult(.seconds(75)),
            fate: .inDoubt,
            reason: .session(.silence(.result)),
            failureClass: .inDoubt,
            isExecuted: true
        ),
        Case(
            fault: .failsSilently,
            fate: .failed,
            reason: .session(.statuses([])),
            failureClass: .device
        ),
        Case(
            fault: .disconnect(in: .handshake),
            fate: .notSent,
            reason: .radio(.linkLost),
            failureClass: .transient
        ),
        Case(
            fault: .disconnect(in: .request),
            fate: .notSent,
            reason: .radio(.linkLost),
            failureClass: .transient
        ),
        Case(
            fault: .disconnect(in: .challenge),
            fate: .notSent,
            reason: .radio(.linkLost),
            failureClass: .transient
        ),
        Case(
            fault: .disconnect(in: .command),
            fate: .inDoubt,
            reason: .radio(.linkLost),
            failureClass: .inDoubt
        ),
        Case(
            fault: .disconnect(in: .acknowledgement),
            fate: .inDoubt,
            reason: .radio(.linkLost),
            failureClass: .inDoubt,
            isExecuted: true
        ),
        Case(
            fault: .disconnect(in: .result),
            fate: .inDoubt,
            reason: .radio(.linkLost),
            failureClass: .inDoubt,
            isExecuted: true
        ),
    ]

    @Test(arguments: cases)
    func `a fault has one error, and the next command works`(_ expected: Case) throws {
        let bench = try CarShareBench(faults: [expected.fault])
        let lock = CarShareCommands(.lock)
        let (outcomes, seen) = try bench.send(lock, lock)
        let error = try #require(outcomes.first?.error)
        #expect(error == CarShareError(expected.fate, expected.reason))
        #expect(error.failureClass == expected.failureClass)
        #expect(!error.description.isEmpty)
        #expect(outcomes.count == 2)
        #expect(outcomes.last?.isSuccess == true)
        #expect(seen.executed == (expected.isExecuted ? [lock, lock] : [lock]))
        #expect(expected.isExecuted == false || error.mayHaveBeenExecuted)
    }

    /// Messages that arrive in an unusual order, but completely.
    @Test(
        arguments: [
            [.challengeEarly], [.secondHandshake(in: .request)],
            [.secondHandshake(in: .challenge)], [.secondHandshake(in: .command)],
            [.secondHandshake(in: .acknowledgement)], [.secondHandshake(in: .result)],
            [.challengeEarly, .secondHandshake(in: .request), .secondHandshake(in: .result)],
            [.lateResult(.seconds(50))],
        ] as [[GOPlan.Fault.Kind]]
    )
    func `an odd order is no fault`(faults: [GOPlan.Fault.Kind]) throws {
        for mtu in [23, 247] {
            let bench = try CarShareBench {
                $0.faults = faults.map { GOPlan.Fault($0) }
                $0.link.mtu = mtu
            }
            let (outcomes, seen) = try bench.send(CarShareCommands(.lock))
            #expect(outcomes.allSucceeded)
            #expect(seen.executed == [CarShareCommands(.lock)])
        }
    }

    @Test func `a handshake that is begun again is answered and told`() throws {
        let bench = try CarShareBench(faults: [.secondHandshake(in: .challenge)])
        _ = try bench.send(CarShareCommands(.lock))
        #expect(bench.notes.all == [.handshakeRepeated])
    }

    @Test(arguments: StatusTests.table.flatMap { id, values in values.map { (id, $0) } })
    func `a status of the vehicle reaches the user`(id: UInt32, value: UInt32) throws {
        let status = CarShareStatus(id: id, value: value)
        let bench = try CarShareBench(faults: [.status(id: id, value: value)])
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock))
        let error = try #require(outcomes.first?.error)
        #expect(error.description.hasPrefix(status.description))
        #expect(seen.executed.isEmpty)
        let fates: [CarShareStatus.Standing: CarShareFate] = [
            .refused: .refused, .busy: .refused, .failed: .failed, .unclear: .inDoubt,
        ]
        #expect(error.fate == fates[status.standing])
    }

    @Test func `a late answer is never the next command's`() throws {
        let bench = try CarShareBench {
            $0.faults = [
                GOPlan.Fault(.lateResult(.seconds(61))),
                GOPlan.Fault(.status(id: 3_348, value: 2)),
            ]
        }
        let lock = CarShareCommands(.lock)
        let (outcomes, _) = try bench.sendOnOneLink(lock, lock, lock)
        #expect(outcomes[0].error?.fate == .inDoubt)
        #expect(outcomes[1].error == CarShareError(.notSent, .session(.outOfStep)))
        #expect(outcomes[2].error == CarShareError(.notSent, .session(.outOfStep)))
    }

    @Test func `after a refusal the same link takes the next command`() throws {
        let bench = try CarShareBench(faults: [.nack(9)])
        let lock = CarShareCommands(.lock)
        let (outcomes, seen) = try bench.sendOnOneLink(lock, lock)
        #expect(outcomes[0].error?.fate == .refused)
        #expect(outcomes[1].isSuccess)
        #expect(seen.links == 1)
    }

    @Test func `a link whose command was cut off is reported as over, not awaited for ever`() throws
    {
        let bench = try CarShareBench(faults: [.noReply(in: .command)])
        let errors = try bench.simulation.run { () async -> [CarShareError?] in
            await bench.setUp()
            let time = bench.simulation.time
            do throws(CarShareError) {
                return try await bench.vehicle.withLink { link in
                    let limit = time.now.advanced(by: .seconds(2))
                    do throws(CarShareError) {
                        _ = try await link.send(CarShareCommands(.lock), before: limit)
                        return []
                    } catch {
                        return [error, await link.attend(before: limit.advanced(by: .seconds(1)))]
                    }
                }
            } catch { return [error] }
        }
        #expect(errors.first??.reason == .session(.outOfTime))
        #expect(errors.last == CarShareError(.notSent, .session(.closed)))
    }

    // MARK: The contents of a token, and the vehicle's reaction

    @Test func `a permission that lacks is refused by the vehicle`() throws {
        let token = try CarShareBench.token { $0.permissions = CarShareCommand.locate.bit }
        let bench = try CarShareBench(token: token)
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock), CarShareCommands(.locate))
        #expect(outcomes[0].error?.description == "the token does not permit this")
        #expect(outcomes[0].error?.fate == .refused)
        #expect(outcomes[0].error?.failureClass == .rejected)
        #expect(outcomes[1].isSuccess)
        #expect(seen.executed == [CarShareCommands(.locate)])
    }

    @Test func `an expired token is refused before anything is on the air`() throws {
        let token = try CarShareBench.token {
            $0.start = 1_000_000_000_000
            $0.end = 1_000_000_100_000
            $0.keyExpiry = 0
        }
        let bench = try CarShareBench(token: token)
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock))
        let error = try #require(outcomes[0].error)
        #expect(error.fate == .notSent)
        #expect(error.failureClass == .rejected)
        #expect(error.description.hasPrefix("the token cannot be used: its reservation ended at 2"))
        #expect(seen.links == 0)
    }

    @Test(arguments: [.seconds(86_400 * 60), .seconds(-86_400), nil] as [Duration?])
    func `a vehicle with a wrong clock refuses, and is said to`(offset: Duration?) throws {
        let bench = try CarShareBench { $0.clockOffset = offset }
        let (outcomes, _) = try bench.send(CarShareCommands(.lock), CarShareCommands(.checkIn))
        #expect(outcomes[0].error?.reason == .session(.nack(.outsideReservation)))
        let description = try #require(outcomes[1].error?.description)
        let expected =
            switch offset {
            case nil: "check-in: the vehicle's clock is not set"
            case let offset? where offset > .zero:
                "check-in: the reservation has expired, by the vehicle's clock"
            default: "check-in: the token's start and end make no sense to the vehicle"
            }
        #expect(description == expected)
    }

    @Test func `a token in seconds holds as one in milliseconds does`() throws {
        let token = try CarShareBench.token {
            $0.start /= 1_000
            $0.end /= 1_000
            $0.keyExpiry /= 1_000
        }
        let bench = try CarShareBench(token: token)
        #expect(try bench.send(CarShareCommands(.lock)).outcomes.allSucceeded)
    }

    @Test func `a token of another vehicle is refused in the vehicle's words`() throws {
        // The service of this vehicle, and the reservation of another one.
        let service = CarShareBench.hardwareID
        let token = try CarShareBench.token {
            $0.hardwareID = 7
        } parts: { parts in
            parts.service =
                AddOnNumbers.service(ofHardware: service, sha256: digest)?.description ?? ""
        }
        let bench = try CarShareBench(token: token)
        #expect(bench.credentials.warnings == [.serviceOfOtherHardware])
        let (outcomes, _) = try bench.send(CarShareCommands(.lock), CarShareCommands(.checkIn))
        #expect(outcomes[0].error?.description == "the token is for another vehicle")
        #expect(outcomes[1].error?.description == "check-in: the token is for another device")
    }

    @Test func `a token of another serial is refused`() throws {
        let token = try CarShareBench.token { $0.serial = "G9-0002" }
        // A device that says its serial is sent nothing.
        let told = try CarShareBench(token: token).send(CarShareCommands(.checkIn))
        #expect(told.outcomes[0].error?.fate == .notSent && told.seen.received == 0)
        let bench = try CarShareBench(token: token) {
            $0.faults = [GOPlan.Fault(.noVehicleData, times: 2)]
        }
        let (outcomes, _) = try bench.send(CarShareCommands(.lock), CarShareCommands(.checkIn))
        #expect(outcomes[0].error?.reason == .session(.nack(.otherVehicle)))
        #expect(
            outcomes[1].error?.description
                == "check-in: the token is for a device with another serial number"
        )
    }

    @Test func `a vehicle without keys says so when a booking begins`() throws {
        let bench = try CarShareBench { $0.tenants = [] }
        let (outcomes, seen) = try bench.send(CarShareCommands(.lock), CarShareCommands(.checkIn))
        #expect(outcomes[0].error?.reason == .session(.nack(.unknownKey)))
        #expect(
            outcomes[1].error?.description
                == "check-in: the vehicle holds no keys to check tokens with"
        )
        #expect(seen.executed.isEmpty)
    }

    @Test func `a reservation that was changed after it was signed is refused`() throws {
        let token = try CarShareBench.token(parts: { parts in
            parts.signature[100] ^= 1
        })
        let bench = try CarShareBench(token: token)
        let (outcomes, _) = try bench.send(CarShareCommands(.lock))
        #expect(outcomes[0].error?.reason == .session(.nack(.reservationSignature)))
    }

    @Test func `a second booking is refused while one is under way`() throws {
        let bench = try CarShareBench()
        let checkIn = CarShareCommands(.checkIn)
        let (outcomes, seen) = try bench.send(checkIn, checkIn)
        #expect(outcomes[0].isSuccess)
        #expect(
            outcomes[1].error?.description == "check-in: a reservation is already under way"
        )
        #expect(seen.executed == [checkIn])
    }

    @Test func `a booking ends only when its conditions hold, and each that does not is reported`()
        throws
    {
        let token = try CarShareBench.token { reservation in
            var end = CarShareReservation.EndOfBooking()
            end.latitude = 4
            end.longitude = 7
            end.homeRadius = 500
            end.leastFuel = 0.25
            end.conditions = 7
            reservation.endOfBooking = end
        }
        let bench = try CarShareBench(token: token) {
            $0.vehicle.reservation = "R"
            $0.vehicle.isIgnitionOn = true
            $0.vehicle.fuel = 0.2
            $0.vehicle.position = GOPlan.Position(latitude: 4.01, longitude: 7)
        }
        let (outcomes, seen) = try bench.send(CarShareCommands(.checkOut))
        let error = try #require(outcomes[0].error)
        #expect(
            error.description == """
                check-out: the conditions for ending the booking are not met; \
                end of booking: the vehicle is not where the booking must end; \
                end of booking: there is too little fuel; end of booking: the ignition is on
                """
        )
        #expect(error.fate == .refused)
        #expect(seen.vehicle.reservation == "R")
        let home = try CarShareBench(token: token) {
            $0.vehicle.reservation = "R"
            $0.vehicle.position = GOPlan.Position(latitude: 4.003, longitude: 7.003)
        }
        #expect(try home.send(CarShareCommands(.checkOut)).outcomes.allSucceeded)
        let blind = try CarShareBench(token: token) {
            $0.vehicle.reservation = "R"
            $0.vehicle.position = nil
            $0.vehicle.fuel = nil
        }
        let blindError = try #require(
            try blind.send(CarShareCommands(.checkOut)).outcomes[0].error
        )
        #expect(blindError.description.contains("does not know where it is"))
        #expect(blindError.description.contains("does not know how much fuel it has"))
    }

    @Test func `the ignition of a running vehicle is not inhibited`() throws {
        let bench = try CarShareBench { $0.vehicle.isIgnitionOn = true }
        let (outcomes, seen) = try bench.send(CarShareCommands(.ignitionInhibit))
        #expect(
            outcomes[0].error?.description == "inhibiting the ignition: the ignition is on"
        )
        #expect(!seen.vehicle.isInhibited)
    }

    @Test func `of several commands some may be done when the vehicle reports a failure`() throws {
        let both = try #require(CarShareCommands([.lock, .ignitionInhibit]))
        let bench = try CarShareBench { $0.vehicle.isIgnitionOn = true }
        let (outcomes, seen) = try bench.send(both)
        let error = try #require(outcomes[0].error)
        #expect(error.fate == .failed)
        #expect(error.mayHaveBeenExecuted)
        #expect(seen.vehicle.isLocked)
    }
}

/// Many commands over links that fail.
@Suite struct LossTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `fifty locks over bad links have one fate each`(seed: UInt64) throws {
        let bench = try CarShareBench(seed: seed) { $0.lossChance = 1_000 }
        let lock = CarShareCommands(.lock)
        let (outcomes, seen) = try bench.simulation.run {
            await bench.setUp()
            var outcomes: [CarShareBench.Outcome] = []
            for _ in 0..<50 { outcomes.append(await bench.attempt(lock)) }
            await bench.simulation.time.sleep(for: .seconds(120), "the vehicle to come to rest")
            return (outcomes, await bench.seen())
        }
        #expect(outcomes.count == 50)
        let successes = outcomes.count { $0.isSuccess }
        let inDoubt = outcomes.count { $0.error?.fate == .inDoubt }
        #expect(outcomes.allSatisfy { $0.isSuccess || $0.error?.reason == .radio(.linkLost) })
        #expect((successes...successes + inDoubt).contains(seen.executed.count))
        #expect(seen.received <= successes + inDoubt)
        #expect(successes < 50)
        #expect(successes > 30)
    }

    @Test func `one seed gives one night`() throws {
        func night() throws -> [CarShareBench.Outcome] {
            let bench = try CarShareBench(seed: 7) { $0.lossChance = 3_000 }
            return try bench.simulation.run {
                await bench.setUp()
                var outcomes: [CarShareBench.Outcome] = []
                for _ in 0..<20 { outcomes.append(await bench.attempt(CarShareCommands(.lock))) }
                return outcomes
            }
        }
        #expect(try night() == night())
    }
}
