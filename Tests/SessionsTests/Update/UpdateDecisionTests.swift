import Base
import Radio
import Testing

private func current(
    _ version: FirmwareVersion?,
    family: Family = Family(rawValue: "comodule"),
    type: Int? = 17,
    variant: Int? = 0
) -> ModuleFirmware {
    ModuleFirmware(family: family, type: type, variant: variant, version: version)
}

private let image = ImageFirmware(
    name: "city-4.12",
    version: FirmwareVersion(4, 12),
    family: Family(rawValue: "comodule"),
    type: 17,
    variant: 0
)

private func decide(
    _ current: ModuleFirmware,
    image: ImageFirmware = image,
    downgrade: Bool = false
) -> UpdateDecision {
    .decide(current: current, image: image, policy: UpdatePolicy(allowsDowngrade: downgrade))
}

@Suite struct UpdateDecisionTests {
    @Test(arguments: [
        (FirmwareVersion(4, 11), UpdateDecision.update),
        (FirmwareVersion(4, 9, 99), .update),
        (FirmwareVersion(4, 12), .alreadyCurrent),
        (
            FirmwareVersion(4, 12, 1),
            .rejected(.downgrade(from: FirmwareVersion(4, 12, 1), to: FirmwareVersion(4, 12)))
        ),
    ])
    func `an older version is updated, the same is current, a newer one is left alone`(
        version: FirmwareVersion,
        decision: UpdateDecision
    ) {
        #expect(decide(current(version)) == decision)
    }

    @Test func `a downgrade that is allowed is an update like any other`() {
        #expect(decide(current(FirmwareVersion(5, 0)), downgrade: true) == .update)
        #expect(decide(current(FirmwareVersion(4, 12)), downgrade: true) == .alreadyCurrent)
    }

    @Test func `a version that cannot be read could be a newer one`() {
        #expect(decide(current(nil)) == .rejected(.unknownVersion(image: "city-4.12")))
        #expect(decide(current(nil), downgrade: true) == .update)
    }

    @Test(arguments: [false, true])
    func `an image that does not fit is rejected whatever else holds`(downgrade: Bool) {
        for version in [FirmwareVersion(4, 11), FirmwareVersion(4, 12), nil] {
            #expect(
                decide(current(version, family: Family(rawValue: "mcumgr")), downgrade: downgrade)
                    == .rejected(
                        .family(
                            image: "city-4.12",
                            wanted: Family(rawValue: "comodule"),
                            found: Family(rawValue: "mcumgr")
                        )
                    )
            )
            for type in [16, nil] {
                #expect(
                    decide(current(version, type: type), downgrade: downgrade)
                        == .rejected(.type(image: "city-4.12", wanted: 17, found: type))
                )
            }
            for variant in [1, nil] {
                #expect(
                    decide(current(version, variant: variant), downgrade: downgrade)
                        == .rejected(.variant(image: "city-4.12", wanted: 0, found: variant))
                )
            }
        }
    }

    @Test func `an image that says nothing about type and variant fits all of its family`() {
        let wide = ImageFirmware(
            name: "all",
            version: FirmwareVersion(4, 12),
            family: Family(rawValue: "comodule")
        )
        let module = current(FirmwareVersion(4, 11), type: nil, variant: 9)
        #expect(decide(module, image: wide) == .update)
    }

    @Test func `a rejection says what was found, what is wanted, and what to do`() {
        let type = UpdateDecision.Reason.type(image: "city-4.12", wanted: 17, found: nil)
        #expect(
            "\(type)"
                == "the image city-4.12 is for type 17, the module is of an unknown type"
        )
        let downgrade = UpdateDecision.Reason.downgrade(
            from: FirmwareVersion(5, 0),
            to: FirmwareVersion(4, 12)
        )
        #expect(
            "\(downgrade)"
                == "runs 5.0.0, newer than 4.12.0; write `downgrade: allow` at the update if it "
                + "is meant"
        )
    }
}
