// swift-tools-version: 6.2
import PackageDescription

/// The settings of all Swift targets of this package.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Most targets that call little C are also built with strict memory safety.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

/// Code whose time is that of disks, servers and people: the gate does not optimise it, which would take longer than
/// all its tests.
let quick: [SwiftSetting] =
    Context.environment["YARDMASTER_GATE"] == nil
    ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// C code checks the sizes that it knows (only possible where the compiler optimises).
let checked: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

/// A program whose tables of functions nobody can write to: all are resolved at its start.
///
/// It has no symbols that only help to read it, but where scripts/package takes them out itself. A build
/// for people also needs `--disable-local-rpath`: without that option, the program would take its
/// libraries from its own folder.
let sealed: [LinkerSetting] =
    [
        .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]),
        .unsafeFlags(["-Xlinker", "--build-id"]),
    ]
    + (Context.environment["YARDMASTER_SYMBOLS"] == nil
        ? [.unsafeFlags(["-Xlinker", "--strip-all"], .when(configuration: .release))] : [])

/// The same, and checks of the stack; not for targets of the library, which others build by version.
let guarded: [CSetting] = checked + [.unsafeFlags(["-fstack-protector-strong"])]

func system(_ name: String, _ package: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: package, providers: [.apt([apt])])
}

/// C that Swift needs to call a library, or the system.
func shim(_ name: String, _ others: [Target.Dependency], _ settings: [CSetting]) -> Target {
    .target(name: name, dependencies: others, cSettings: settings)
}

/// A room with strict memory safety: mostly values and rules.
func room(
    _ name: String,
    _ rooms: [Target.Dependency] = [],
    _ more: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: pure + more)
}

/// A room that wraps C libraries.
func adapter(
    _ name: String,
    _ rooms: [Target.Dependency],
    _ more: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: common + more)
}

/// A target of tests, not optimised in any build: optimising tests takes longer than running them.
func tests(
    _ name: String,
    _ rooms: [Target.Dependency],
    resources: [Resource] = [],
    _ more: [String] = []
) -> Target {
    .testTarget(
        name: name,
        dependencies: rooms,
        resources: resources,
        swiftSettings: common + [.unsafeFlags(["-Onone"] + more, .when(configuration: .release))]
    )
}

/// For a target that is compiled last, and alone: in as many parts as there are processors.
let inParts = ["-no-whole-module-optimization", "-enable-batch-mode"]

/// An example program of the library, built in this package so that tests can run it.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["VehicleModules"],
        path: "Examples/\(name)",
        swiftSettings: common + quick
    )
}

/// The folders of the families, from which their profiles are compiled in.
let families = ["Comodule", "ESP", "GeotabGo", "LRDevice", "MCUmgr", "Nordic"]

let package = Package(
    name: "yardmaster",
    products: [
        .executable(name: "yardmaster", targets: ["yardmaster"]),
        .library(name: "VehicleModules", targets: ["VehicleModules"]),
    ],
    targets: [
        system("CDBus", "dbus-1", apt: "libdbus-1-dev"),
        system("COpenSSL", "libcrypto", apt: "libssl-dev"),
        system("CZlib", "zlib", apt: "zlib1g-dev"),
        system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        system("CYAML", "yaml-0.1", apt: "libyaml-dev"),
        shim("CLinux", [], checked),
        shim("CCurl", ["CLinux"], checked),
        shim("CMicrohttpd", ["CLinux"], guarded),
        shim("CPostgres", ["CLinux"], guarded),

        room("Base", ["CLinux", "COpenSSL", "CYAML"]),
        room("Radio", ["Base"]),
        room("Commands", ["Base"], quick),
        adapter("BlueZ", ["Base", "Radio", "CDBus", "CLinux"], quick),
        adapter("Simulation", ["Base", "Radio", "CLinux"]),
        .target(
            name: "Families",
            dependencies: ["Base", "Radio", "Simulation"],
            resources: families.map { .embedInCode("\($0)/Profiles") },
            swiftSettings: pure
        ),
        adapter("Lab", ["Base", "BlueZ", "Families", "Radio", "Simulation"], quick),
        adapter(
            "Images",
            ["Base", "Families", "Radio", "CCurl", "CLinux", "COpenSSL", "CZlib"],
            quick
        ),
        adapter(
            "VehicleModules",
            ["Base", "BlueZ", "CLinux", "Families", "Images", "Radio", "Simulation"],
            quick
        ),
        room("Manifest", ["Base", "Families"], quick),
        room("Servers", ["Base", "Commands"], quick),
        adapter("Store", ["Base", "CLinux", "CPostgres", "CSQLite"]),
        room("Rollout", ["Base", "Families", "Manifest", "Radio", "Store"]),
        room("Show", ["Base", "Commands", "Manifest", "Store"], quick),
        adapter(
            "Operations",
            [
                "Base", "BlueZ", "CLinux", "Commands", "Families", "Images", "Manifest", "Radio",
                "Rollout", "Show", "Simulation", "Store",
            ],
            quick
        ),
        adapter(
            "Site",
            [
                "Base", "BlueZ", "CLinux", "CMicrohttpd", "Commands", "Images", "Lab", "Manifest",
                "Operations", "Radio", "Rollout", "Servers", "Show", "Simulation", "Store",
            ],
            quick
        ),
        adapter(
            "Yard",
            [
                "Base", "Commands", "Families", "Images", "Manifest", "Operations", "Radio",
                "Rollout", "Show", "Store",
            ],
            quick
        ),
        .executableTarget(
            name: "yardmaster",
            dependencies: [
                "Base", "BlueZ", "CLinux", "Commands", "Families", "Images", "Manifest",
                "Operations", "Radio", "Rollout", "Show", "Site", "Store", "Yard",
            ],
            swiftSettings: common + quick,
            linkerSettings: sealed
        ),

        example("FollowModule"),
        example("OwnFamily"),
        example("ScanAndRead"),
        example("SeedTour"),
        example("SetLights"),
        example("UnlockVehicle"),
        example("UpdateModule"),
        example("UseLock"),

        .target(
            name: "RadioContract",
            dependencies: ["Base", "Radio", "Simulation"],
            path: "Tests/RadioContract",
            swiftSettings: common
        ),
        .target(
            name: "Samples",
            dependencies: ["Base", "Images", "Families", "Simulation"],
            path: "Tests/Samples",
            swiftSettings: common
        ),
        .target(
            name: "Nights",
            dependencies: [
                "Base", "Radio", "Families", "Samples", "Simulation", "Images", "Store", "Manifest",
                "Rollout", "Show", "Commands", "Operations", "PrivatePostgres", "Workbench", "Yard",
            ],
            path: "Tests/Nights",
            swiftSettings: common + quick
        ),
        tests("NightsTests", ["Base", "Nights"], resources: [.copy("Stories")]),
        .target(
            name: "Moments",
            dependencies: ["Base"],
            path: "Tests/Moments",
            swiftSettings: common + quick
        ),
        .target(
            name: "Workbench",
            dependencies: [],
            path: "Tests/Workbench",
            swiftSettings: common + quick
        ),
        .target(
            name: "Signers",
            dependencies: ["COpenSSL", "Base", "Images"],
            path: "Tests/Signers",
            swiftSettings: common + quick
        ),
        .target(
            name: "PrivateBus",
            dependencies: ["BlueZ"],
            path: "Tests/PrivateBus",
            swiftSettings: common + quick
        ),
        .target(
            name: "PrivatePostgres",
            dependencies: ["Workbench"],
            path: "Tests/PrivatePostgres",
            swiftSettings: common + quick
        ),
        .target(
            name: "ScriptedHost",
            dependencies: ["Base", "BlueZ", "RadioContract"],
            path: "Tests/ScriptedHost",
            swiftSettings: common + quick
        ),
        .target(
            name: "HostScript",
            dependencies: ["Base", "BlueZ", "Simulation", "PrivateBus", "RadioContract", "Lab"],
            path: "Tests/HostScript",
            swiftSettings: common + quick
        ),
        tests(
            "BlueZTests",
            ["Base", "Radio", "BlueZ", "PrivateBus", "RadioContract", "ScriptedHost", "Workbench"]
        ),
        tests(
            "FakeBlueZTests",
            [
                "Base", "Radio", "BlueZ", "Families", "Simulation", "HostScript", "PrivateBus",
                "RadioContract", "Workbench", "Lab",
            ],
            resources: [.copy("Clients")]
        ),
        tests("DBusTests", ["Base", "BlueZ", "CDBus", "PrivateBus", "Workbench"]),
        tests("DomainTests", ["Base"]),
        tests("FilesTests", ["Base", "Workbench"]),
        tests("SessionsTests", ["Base", "Radio", "Moments"]),
        tests(
            "SecureDFUTests",
            ["Base", "Radio", "Simulation", "Families", "Moments"]
        ),
        tests(
            "ComoduleTests",
            ["Base", "Radio", "Families", "Moments"]
        ),
        tests(
            "RolloutTests",
            [
                "Base", "Radio", "Families", "Samples", "Simulation", "Images", "Store", "Manifest",
                "Rollout", "Show",
            ]
        ),
        tests(
            "CarShareTests",
            [
                "Base", "Store", "Manifest", "Radio", "Families", "Rollout", "Show", "Samples",
                "Simulation",
            ],
            resources: [.copy("Tables")]
        ),
        tests("TidyTests", ["Base", "Commands"]),
        tests(
            "ShimTests",
            ["CCurl", "CDBus", "CMicrohttpd", "COpenSSL", "CSQLite", "CYAML", "CZlib"]
        ),
        tests(
            "ProgramTests",
            [
                "BlueZ", "Commands", "Base", "Families", "FollowModule", "Store", "Manifest",
                "Radio", "Operations", "OwnFamily", "PrivateBus", "PrivatePostgres", "Rollout",
                "ScanAndRead", "SeedTour", "SetLights", "Show", "Signers", "Simulation", "Images",
                "UnlockVehicle", "UpdateModule", "UseLock", "VehicleModules", "Workbench",
                "yardmaster", "Site", "Yard", "Lab",
            ],
            inParts
        ),
        tests("WireTests", ["Base"]),
        tests(
            "SimulationTests",
            ["Base", "Radio", "Simulation", "RadioContract"]
        ),
        tests(
            "LRDeviceTests",
            ["Base", "Radio", "Families", "Simulation"]
        ),
        tests("SourceTreeTests", ["Base"]),
        tests(
            "SMPTests",
            ["Base", "Images", "Radio", "Families", "Samples", "Simulation"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "ShowTests",
            ["Base", "Rollout", "Store", "Show", "Workbench"],
            resources: [.copy("Golden")]
        ),
        tests(
            "CommandsTests",
            [
                "BlueZ", "Base", "Commands", "Families", "Images", "Store", "Manifest",
                "Operations", "Radio", "Rollout", "Show", "Workbench", "yardmaster", "Site", "Yard",
            ],
            resources: [.copy("Golden")]
        ),
        tests("ThreadsTests", ["Base"]),
        tests(
            "PostgresTests",
            ["Base", "Store", "PrivatePostgres", "Workbench"]
        ),
        tests(
            "FleetStoreTests",
            [
                "Base", "Families", "Store", "Manifest", "Operations", "PrivatePostgres", "Radio",
                "Rollout", "Show", "Workbench",
            ]
        ),
        tests("JournalTests", ["Store", "Base", "Workbench"]),
        tests(
            "ImagesTests",
            ["Images", "Base", "Workbench", "yardmaster"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "TrustTests",
            ["Base", "Images", "Signers", "Workbench"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "ModulesTests",
            ["Radio", "Base", "Families", "Simulation", "VehicleModules", "Workbench"]
        ),
        tests(
            "ServersTests",
            [
                "Base", "Images", "Manifest", "PrivatePostgres", "Samples", "Servers", "Site",
                "Store",
                "Workbench",
            ]
        ),
        tests(
            "ManifestTests",
            ["Base", "Families", "Manifest"]
        ),
    ]
)

// One program for libFuzzer, which brings its own `main`: no other program could link it.
if Context.environment["YARDMASTER_FUZZ"] != nil {
    package.targets.append(.systemLibrary(name: "CFuzzer", path: "Fuzz/Driver"))
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "BlueZ", "CFuzzer", "CSQLite", "Base", "Families", "Images", "Store", "Manifest",
                "Radio", "Operations", "Rollout", "Servers", "Show", "Simulation",
                "VehicleModules", "Site",
            ],
            path: "Fuzz",
            exclude: ["Driver", "Seeds"],
            // Only this target is instrumented, unless the whole build is (`--sanitize=fuzzer`).
            swiftSettings: common + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        )
    )
}

// Benchmarks, which scripts/bench builds and runs.
if Context.environment["YARDMASTER_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "token-issuer",
            dependencies: ["Base", "Families", "Simulation"],
            path: "Bench/tokens",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "bluez-bench",
            dependencies: [
                "BlueZ", "Base", "Radio", "RadioContract", "PrivateBus", "ScriptedHost",
            ],
            path: "Bench/bluez",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "night-lives",
            dependencies: ["Nights"],
            path: "Bench/nights",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "carshare-bench",
            dependencies: ["Base", "Families", "Simulation"],
            path: "Bench/carshare",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "fleet-bench",
            dependencies: ["Base", "Store"],
            path: "Bench/gateways",
            swiftSettings: common
        )
    )
}

// Checks the contract of every radio with the real BlueZ; scripts/e2e-bluez builds and runs it.
if Context.environment["YARDMASTER_E2E"] != nil {
    package.targets.append(
        .executableTarget(
            name: "radio-contract",
            dependencies: [
                "Base", "Radio", "RadioContract", "BlueZ", "Simulation", "HostScript", "Lab",
            ],
            path: "Bench/contract",
            swiftSettings: common
        )
    )
}
