import Base
import Radio

extension RadioContract {
    static let peripheralClauses: [ContractClause] = [
        ContractClause("a central that subscribes gets a link with a length") { bench in
            try await bench.withCentral { link in
                try expect((20...512).contains(link.maximumLength), "the length of an update")
            }
        },
        ContractClause("what is notified arrives in order, and so do the central's writes") {
            bench in
            try await bench.withCentral { link in
                for number in 0..<40 {
                    try await link.notify([UInt8(number), 0xAA])
                }
                for number in 0..<40 {
                    let first = try await link.nextWrite(before: bench.soon())
                    let second = try await link.nextWrite(before: bench.soon())
                    try expect(
                        first == [UInt8(number)] && second == [0xAA],
                        "write \(number) is in its place, got \(first) \(second)"
                    )
                }
            }
        },
        ContractClause("an update that is too long is refused") { bench in
            try await bench.withCentral { link in
                let limit = link.maximumLength
                try await expect(.tooLong(limit: limit), "an update that is too long") {
                    () async throws(RadioError) in
                    try await link.notify([UInt8](repeating: 0, count: limit + 1))
                }
            }
        },
        ContractClause("a central that leaves is lost for every call") { bench in
            try await bench.withCentral { link in
                await bench.cause(.visitorLeaves)
                try await expect(.linkLost, "a wait for a write") {
                    () async throws(RadioError) in
                    try await link.nextWrite(before: bench.soon())
                }
                try await expect(.linkLost, "an update") { () async throws(RadioError) in
                    try await link.notify([1])
                }
            }
        },
        ContractClause("without a central the advertisement ends at its deadline") { bench in
            await bench.cause(.visitorStopsLooking)
            let deadline = bench.soon(.seconds(3))
            try await expect(.timedOut, "nobody comes") { () async throws(RadioError) in
                try await bench.peripheral.withService(ContractVisitor.service) {
                    service throws(RadioError) in
                    _ = try await service.nextCentral(before: deadline)
                }
            }
        },
        ContractClause("a service can be put on the air again after it was taken down") { bench in
            for _ in 0..<3 {
                try await bench.withCentral { link in
                    try await link.notify([1, 2])
                    let echoed = try await link.nextWrite(before: bench.soon())
                    try expect(echoed == [1], "the central answers, got \(echoed)")
                }
            }
        },
        ContractClause("no service goes on the air of an adapter that is off") { bench in
            await bench.cause(.adapterOff)
            try await expect(.adapterOff, "an adapter that is off") {
                () async throws(RadioError) in
                try await bench.peripheral.withService(ContractVisitor.service) {
                    service throws(RadioError) in
                    _ = try await service.nextCentral(before: bench.soon())
                }
            }
            await bench.cause(.adapterOn)
        },
        ContractClause("an adapter that is switched off ends the central's link") { bench in
            try await bench.withCentral { link in
                await bench.cause(.adapterOff)
                try await expect(.linkLost, "the central's link") { () async throws(RadioError) in
                    try await link.nextWrite(before: bench.soon())
                }
            }
            await bench.cause(.adapterOn)
        },
    ]
}

extension ContractBench {
    /// Advertises the contract's service, waits for its central and runs `body` with the link.
    func withCentral(
        _ body: @Sendable (any CentralLink) async throws -> Void
    ) async throws {
        let deadline = soon(.seconds(30))
        let outcome = try await peripheral.withService(ContractVisitor.service) {
            service throws(RadioError) -> Result<Void, any Error> in
            let link = try await service.nextCentral(before: deadline)
            do {
                try await body(link)
                await link.disconnect()
                return .success(())
            } catch {
                await link.disconnect()
                return .failure(error)
            }
        }
        try outcome.get()
    }
}
