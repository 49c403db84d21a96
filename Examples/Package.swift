// swift-tools-version: 6.2
import PackageDescription

// The example as somebody else's package: it sees what the library makes public, and no more.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "yardmaster", path: "..")],
    targets: [
        .executableTarget(
            name: "SetLights",
            dependencies: [.product(name: "VehicleModules", package: "yardmaster")],
            path: "SetLights"
        )
    ]
)
