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

/// Targets without C are also built with strict memory safety.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

/// C code checks the sizes that it knows (only possible where the compiler optimises).
let checked: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

/// A program whose tables of functions nobody can write to: all are resolved at its start.
///
/// It has no symbols that only help to read it. A build for people also needs `--disable-local-rpath`:
/// without that option, the program would take its libraries from its own folder.
let sealed: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]),
    .unsafeFlags(["-Xlinker", "--strip-all"], .when(configuration: .release)),
]

/// The same, and checks of the stack; not for targets of the library, which others build by version.
let guarded: [CSetting] = checked + [.unsafeFlags(["-fstack-protector-strong"])]

func system(_ name: String, _ package: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: package, providers: [.apt([apt])])
}

/// C that Swift needs to call a library, or the system.
func shim(_ name: String, _ others: [Target.Dependency], _ settings: [CSetting]) -> Target {
    .target(name: name, dependencies: others, cSettings: settings)
}

/// A room that contains only values and rules.
func room(_ name: String, _ rooms: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: pure)
}

/// A room that wraps C libraries.
func adapter(_ name: String, _ rooms: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: rooms, swiftSettings: common)
}

/// A target of tests, not optimised in any build: optimising tests takes longer than running them.
func tests(_ name: String, _ rooms: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: rooms,
        resources: resources,
        swiftSettings: common + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
    )
}

/// An example program of the library, built in this package so that tests can run it.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["VehicleModules"],
        path: "Examples/\(name)",
        swiftSettings: common
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

        room("Domain"),
        room("Wire"),
        room("Commands", ["Domain", "Wire"]),
        room("Sessions", ["Domain", "Wire"]),
        room("Radio", ["Domain"]),
        adapter("Digests", ["Domain", "COpenSSL"]),
        adapter("Signatures", ["COpenSSL"]),
        adapter("Sealing", ["Domain", "COpenSSL"]),
        adapter("Threads", []),
        adapter("Files", ["Domain", "CLinux"]),
        adapter("DBus", ["Domain", "Threads", "CDBus", "CLinux"]),
        adapter("BlueZ", ["Domain", "Threads", "Files", "Radio", "DBus", "CLinux"]),
        adapter("Modules", ["Domain", "SourceTree", "Sessions", "Radio"]),
        adapter("Simulation", ["Domain", "Files", "SourceTree", "Radio", "Modules", "CLinux"]),
        adapter(
            "Protocols",
            [
                "Domain", "SourceTree", "Wire", "Sessions", "Radio", "Digests", "Modules",
                "Simulation",
            ]
        ),
        .target(
            name: "Families",
            dependencies: [
                "Domain", "SourceTree", "Wire", "Sessions", "Radio", "Digests", "Sealing",
                "Modules",
                "Simulation", "Protocols",
            ],
            resources: families.map { .embedInCode("\($0)/Profiles") },
            swiftSettings: common
        ),
        adapter("FakeBlueZ", ["Domain", "Threads", "Radio", "DBus", "Simulation"]),
        adapter(
            "Rehearsal",
            ["Domain", "Families", "Threads", "Radio", "DBus", "BlueZ", "Simulation"]
        ),
        adapter(
            "VehicleModules",
            [
                "BlueZ", "CLinux", "DBus", "Digests", "Domain", "Families", "Images", "SourceTree",
                "Modules", "Radio", "Sealing", "Sessions", "Simulation", "Threads",
            ]
        ),
        adapter(
            "Images",
            [
                "Domain", "Wire", "Digests", "Sessions", "Modules", "Protocols", "Threads", "Files",
                "CCurl", "CZlib", "CLinux",
            ]
        ),
        adapter("Trust", ["Domain", "Wire", "Files", "Digests", "Signatures", "Families"]),
        adapter("SourceTree", ["Domain", "CYAML"]),
        adapter("Manifest", ["Domain", "Wire", "SourceTree", "Digests", "Families"]),
        adapter("Store", ["Domain", "Files", "CSQLite", "CPostgres", "CLinux"]),
        room("Reports", ["Domain", "Wire"]),
        adapter("Web", ["CMicrohttpd"]),
        room(
            "Rollout",
            [
                "Digests", "Domain", "Wire", "Sessions", "Radio", "Modules", "Families",
                "SourceTree",
                "Manifest", "Store", "Reports",
            ]
        ),
        adapter(
            "Operations",
            [
                "BlueZ", "CLinux", "Commands", "DBus", "Digests", "Domain", "FakeBlueZ", "Families",
                "Files", "Images", "Manifest", "Modules", "Protocols", "Radio", "Rehearsal",
                "Reports",
                "Rollout", "Sessions", "Signatures", "Simulation", "SourceTree", "Store", "Threads",
                "Trust", "Web", "Wire",
            ]
        ),
        .executableTarget(
            name: "yardmaster",
            dependencies: [
                "BlueZ", "CLinux", "Commands", "DBus", "Digests", "Domain", "Families", "Images",
                "Manifest", "Modules", "Operations", "Radio", "Reports", "Rollout", "SourceTree",
                "Store", "Threads", "Trust", "Web", "Wire",
            ],
            swiftSettings: common,
            linkerSettings: sealed
        ),

        example("FollowModule"),
        example("ScanAndRead"),
        example("SetLights"),
        example("UnlockVehicle"),
        example("UpdateModule"),
        example("UseLock"),

        .target(
            name: "RadioContract",
            dependencies: ["Domain", "Radio", "Simulation"],
            path: "Tests/RadioContract",
            swiftSettings: common
        ),
        .target(
            name: "Samples",
            dependencies: ["Digests", "Domain", "Images", "Protocols", "Simulation", "Wire"],
            path: "Tests/Samples",
            swiftSettings: common
        ),
        .target(
            name: "Nights",
            dependencies: [
                "Digests", "Domain", "Wire", "SourceTree", "Sessions", "Radio", "Modules",
                "Protocols",
                "Families", "Samples", "Simulation", "Images", "Store", "Manifest", "Reports",
                "Rollout", "Commands", "Operations", "PrivatePostgres", "Workbench",
            ],
            path: "Tests/Nights",
            swiftSettings: common
        ),
        tests("NightsTests", ["Domain", "Nights"], resources: [.copy("Stories")]),
        .target(
            name: "Moments",
            dependencies: ["Domain"],
            path: "Tests/Moments",
            swiftSettings: common
        ),
        .target(
            name: "Workbench",
            dependencies: [],
            path: "Tests/Workbench",
            swiftSettings: common
        ),
        .target(
            name: "Signers",
            dependencies: ["COpenSSL", "Digests", "Domain", "Trust", "Wire"],
            path: "Tests/Signers",
            swiftSettings: common
        ),
        .target(
            name: "PrivateBus",
            dependencies: ["DBus"],
            path: "Tests/PrivateBus",
            swiftSettings: common
        ),
        .target(
            name: "PrivatePostgres",
            dependencies: ["Workbench"],
            path: "Tests/PrivatePostgres",
            swiftSettings: common
        ),
        .target(
            name: "ScriptedHost",
            dependencies: ["Domain", "Threads", "DBus", "RadioContract"],
            path: "Tests/ScriptedHost",
            swiftSettings: common
        ),
        .target(
            name: "HostScript",
            dependencies: [
                "Domain", "Threads", "DBus", "FakeBlueZ", "Simulation", "PrivateBus",
                "RadioContract",
            ],
            path: "Tests/HostScript",
            swiftSettings: common
        ),
        tests(
            "BlueZTests",
            [
                "Domain", "Threads", "Radio", "DBus", "BlueZ", "PrivateBus", "RadioContract",
                "ScriptedHost", "Workbench",
            ]
        ),
        tests(
            "FakeBlueZTests",
            [
                "Domain", "SourceTree", "Radio", "DBus", "BlueZ", "FakeBlueZ", "Families",
                "Simulation",
                "Threads", "HostScript", "PrivateBus", "RadioContract", "Workbench",
            ],
            resources: [.copy("Clients")]
        ),
        tests("DBusTests", ["Domain", "Threads", "DBus", "CDBus", "PrivateBus", "Workbench"]),
        tests("DomainTests", ["Domain"]),
        tests("FilesTests", ["Files", "Workbench"]),
        tests("SessionsTests", ["Domain", "Sessions", "Moments", "Wire"]),
        tests(
            "SecureDFUTests",
            ["Digests", "Domain", "Wire", "Sessions", "Simulation", "Protocols", "Moments"]
        ),
        tests(
            "ComoduleTests",
            ["Domain", "Sessions", "Modules", "Families", "Moments"]
        ),
        tests(
            "RolloutTests",
            [
                "Digests", "Domain", "Wire", "Sessions", "Radio", "Modules", "Protocols",
                "Families", "Samples", "Simulation", "SourceTree", "Images", "Store", "Manifest",
                "Reports",
                "Rollout",
            ]
        ),
        tests(
            "CarShareTests",
            [
                "Digests", "Domain", "Store", "Manifest", "SourceTree", "Wire", "Sessions",
                "Radio",
                "Modules", "Protocols", "Families", "Reports", "Rollout", "Samples", "Simulation",
            ],
            resources: [.copy("Tables")]
        ),
        tests("TidyTests", ["Domain", "Commands"]),
        tests(
            "ShimTests",
            ["CCurl", "CDBus", "CMicrohttpd", "COpenSSL", "CSQLite", "CYAML", "CZlib"]
        ),
        tests(
            "ProgramTests",
            [
                "Commands", "Digests", "Domain", "Families", "FollowModule", "Store", "Manifest",
                "Modules", "Operations", "PrivateBus", "PrivatePostgres", "Radio", "Reports",
                "ScanAndRead", "SetLights",
                "Signers", "Simulation", "SourceTree", "Threads", "Trust", "UnlockVehicle",
                "UpdateModule",
                "UseLock",
                "VehicleModules", "Web", "Wire", "Workbench", "yardmaster",
            ]
        ),
        tests("WireTests", ["Domain", "Wire"]),
        tests(
            "SimulationTests",
            ["Domain", "Radio", "Simulation", "RadioContract"]
        ),
        tests(
            "LRDeviceTests",
            [
                "Domain", "SourceTree", "Radio", "Sealing", "Families", "Simulation",
            ]
        ),
        tests("SourceTreeTests", ["Domain", "SourceTree"]),
        tests(
            "SMPTests",
            [
                "Domain", "Images", "SourceTree", "Modules", "Protocols", "Families", "Radio",
                "Samples", "Sessions", "Simulation", "Wire",
            ],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "ReportsTests",
            ["Domain", "Wire", "Reports", "Workbench"],
            resources: [.copy("Golden")]
        ),
        tests(
            "CommandsTests",
            [
                "BlueZ", "Domain", "Wire", "Commands", "Images", "Store", "Manifest",
                "Operations", "Radio",
                "Reports",
                "Rollout", "Workbench", "yardmaster",
            ],
            resources: [.copy("Golden")]
        ),
        tests("ThreadsTests", ["Threads"]),
        tests(
            "PostgresTests",
            ["Domain", "Store", "PrivatePostgres", "Threads", "Workbench"]
        ),
        tests(
            "FleetStoreTests",
            [
                "Domain", "Store", "Manifest", "Operations", "PrivatePostgres",
                "Reports", "Rollout", "SourceTree", "Threads", "Workbench",
            ]
        ),
        tests("JournalTests", ["Store", "Domain", "Threads", "Workbench"]),
        tests(
            "ImagesTests",
            ["Images", "Digests", "Domain", "Files", "Threads", "Workbench", "yardmaster"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "TrustTests",
            ["Domain", "Signatures", "Wire", "Trust"],
            resources: [.copy("Fixtures")]
        ),
        tests(
            "ModulesTests",
            [
                "Sessions", "Domain", "SourceTree", "Wire", "Radio", "Modules", "Families",
                "Simulation",
                "VehicleModules",
            ]
        ),
        tests(
            "ManifestTests",
            ["Digests", "Domain", "Families", "Wire", "SourceTree", "Manifest"]
        ),
    ]
)

// One program for libFuzzer, which brings its own `main`: no other program could link it.
if Context.environment["YARDMASTER_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "BlueZ", "CSQLite", "DBus", "Digests", "Domain", "Families", "Images", "Store",
                "Manifest", "Modules", "Operations", "Protocols", "Radio", "Reports", "Rollout",
                "Sessions", "Signatures", "Simulation", "SourceTree", "Threads", "Trust",
                "VehicleModules", "Wire",
            ],
            path: "Fuzz",
            exclude: ["Seeds"],
            swiftSettings: common + [.unsafeFlags(["-parse-as-library"])]
        )
    )
}

// Benchmarks, which scripts/bench builds and runs.
if Context.environment["YARDMASTER_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "token-issuer",
            dependencies: ["Domain", "Families"],
            path: "Bench/tokens",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "bluez-bench",
            dependencies: [
                "BlueZ", "DBus", "Domain", "Radio", "RadioContract", "PrivateBus", "ScriptedHost",
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
            dependencies: ["Domain", "Families", "Simulation"],
            path: "Bench/carshare",
            swiftSettings: common
        )
    )
    package.targets.append(
        .executableTarget(
            name: "fleet-bench",
            dependencies: ["Domain", "Store", "Threads"],
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
                "Domain", "Radio", "RadioContract", "Threads", "DBus", "BlueZ", "Simulation",
                "Rehearsal", "HostScript",
            ],
            path: "Bench/contract",
            swiftSettings: common
        )
    )
}
