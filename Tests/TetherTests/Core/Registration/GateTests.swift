import Testing

@testable import Tether

/// The gate, which tells those who end one observer at the same moment apart.
@Suite struct GateTests {
    @Test func `R3 of all that close a gate the first alone is told to do the rest`() {
        let registration = PlainRegistration(
            center: CenterCore(usesExactLifetimes: true), site: RegistrationSite(file: #fileID, line: #line),
            handler: { _ in })
        #expect(!registration.hasEnded)
        #expect([registration.close(), registration.close(), registration.close()] == [true, false, false])
        #expect(registration.hasEnded)
    }

    @Test func `R8 who looks is handed no registration whose gate is closed, though it is still held`() {
        let registration = PlainRegistration(
            center: CenterCore(usesExactLifetimes: true), site: RegistrationSite(file: #fileID, line: #line),
            handler: { _ in })
        let memory = RegistrationMemory(of: registration)
        #expect(memory.look { _ in true } == true)
        #expect(registration.close())
        #expect(memory.look { _ in true } == nil)
    }

    @Test func `R1 R8 one that has ended before it is added is added nowhere, and let go of`() {
        let (core, log) = (CenterCore(usesExactLifetimes: true), Log<String>())
        do {
            let captured = Ending { log.add("released") }
            let registration = PlainRegistration(
                center: core, site: RegistrationSite(file: #fileID, line: #line), handler: { _ in captured.touch() })
            registration.end()
            unsafe core.add(.passRetained(registration), name: .sample)
            #expect(unsafe registration.bucket == nil && registration.slot == Registration.neverInASlot)
        }
        #expect(log.entries == ["released"] && core.isEmpty)
    }

    @Test func `R10 one that is added to a center that has gone ends`() {
        let core = CenterCore(usesExactLifetimes: true)
        core.close()
        let registration = PlainRegistration(
            center: core, site: RegistrationSite(file: #fileID, line: #line), handler: { _ in })
        unsafe core.add(.passRetained(registration), name: .sample)
        #expect(registration.hasEnded && core.count == 0)
    }
}
