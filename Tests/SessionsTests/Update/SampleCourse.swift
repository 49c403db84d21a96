import Base
import Moments
import Radio
import Testing

/// The course of an update from 4.11 to 4.12, for transcripts of its machines.
enum SampleCourse {
    static let target = FirmwareVersion(4, 12)
    static let old = FirmwareVersion(4, 11)

    static func course(
        bootloader: Bool = true,
        healthy: Bool = false,
        sizes: [Int] = [10_000],
        _ change: (inout UpdateMemory) -> Void = { _ in }
    ) throws -> UpdateCourse {
        var memory = UpdateMemory()
        change(&memory)
        let rules = try #require(
            SettleRules(quiet: .seconds(4), wrongVersionGrace: .seconds(8), poll: .seconds(2))
        )
        return UpdateCourse(
            UpdateGoal(
                image: ImageFirmware(
                    name: "city",
                    version: target,
                    family: Family(rawValue: "comodule")
                ),
                sizes: sizes,
                usesBootloader: bootloader,
                hasHealthCheck: healthy
            ),
            limits: UpdateLimits(settle: rules),
            memory: memory,
            now: at(0),
            wallTime: wall(0)
        )
    }

    static func inspection(_ version: FirmwareVersion, confirmed: Bool = true) -> Inspection {
        Inspection(
            firmware: ModuleFirmware(
                family: Family(rawValue: "comodule"),
                type: 1,
                variant: 0,
                version: version
            ),
            isConfirmed: confirmed
        )
    }

    static let lost = UpdateFault(.transient, .linkLost, "lost")
    static let refused = UpdateFault(.transient, "no")
}
