import Base
import Families
import Radio
import Simulation
import Testing

@testable import VehicleModules

/// Modules that answer late, wrongly or not at all, in each exchange.
@Suite struct ExchangeTests {
    @Test(arguments: [
        ModulePlan.Exchange.challenge, .response, .state, .information, .selector, .register,
        .notifier,
    ])
    func `silence in one exchange of the handshake is given up and tried again`(
        exchange: ModulePlan.Exchange
    ) throws {
        try ModuleBench([ModuleBench.faulty(.init(.silentIn(exchange)))]).run { bench in
            let connection = bench.connection()
            let began = bench.time.now
            try await connection.connect(
                ModuleBench.serial(1),
                secret: ModuleBench.secret,
                timeout: .seconds(60)
            )
            let took = began.duration(to: bench.time.now)
            #expect(took > .seconds(10) && took < .seconds(20), "\(took)")
            await connection.disconnect()
        }
    }

    @Test func `a module that answers late is waited for, one that answers too late is not`()
        throws
    {
        for (delay, isConnected) in [(Duration.seconds(1), true), (.seconds(15), false)] {
            try ModuleBench([ModuleBench.faulty(.init(.slow(delay)))]).run { bench in
                let found = await bench.error(
                    connecting: bench.connection(),
                    timeout: .seconds(120)
                )
                #expect(found == (isConnected ? nil : .timedOut(.handshaking)))
            }
        }
    }

    @Test(arguments: [
        (ModulePlan.Fault(.linkLostIn(.command)), PropertyWriteError.module(.radio(.linkLost))),
        (.init(.silentIn(.command)), .module(.radio(.timedOut))),
        (.init(.ignoresWrites), .notTaken("lights", found: .state("disabled"))),
    ])
    func `a write that fails on the way says how`(
        fault: ModulePlan.Fault,
        error: PropertyWriteError
    ) throws {
        try ModuleBench([ModuleBench.faulty(fault)]).run { bench in
            let connection = bench.connection()
            try await connection.connect(ModuleBench.serial(1), secret: ModuleBench.secret)
            await #expect(throws: error) {
                try await connection.write(.state("enabled"), to: "lights")
            }
            await connection.disconnect()
        }
        #expect(!error.sentence.isEmpty && !error.remedy.isEmpty)
    }

    @Test(arguments: 1...20)
    func `whatever the seed, a handshake that loses links ends connected`(seed: Int) throws {
        let plan = ModuleBench.module {
            $0.faults = [
                .init(.linkLostIn(.information)), .init(.linkLostIn(.register)),
                .init(.wrongRecord, times: 3), .init(.connectFails, times: 2),
            ]
            $0.link.loss = 0.05
        }
        try ModuleBench(seed: UInt64(seed), [plan]).run { bench in
            let connection = bench.connection()
            try await connection.connect(
                ModuleBench.serial(1),
                secret: ModuleBench.secret,
                timeout: .seconds(60)
            )
            #expect(connection.state.value.isConnected)
            await connection.disconnect()
        }
    }
}
