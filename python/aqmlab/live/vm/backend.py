"""`aqmlab live --backend vm`: a run over the emulated kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from aqmlab.interop.kernel.export import KernelQueue
from aqmlab.live.plan import LivePlan
from aqmlab.live.tc import module as modules
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.link import configuration, text
from aqmlab.live.tc.module import KernelModule
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import IN_USERSPACE, setting_of
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import Image, find, with_libraries
from aqmlab.live.vm.headers import headers
from aqmlab.live.vm.machine import boot
from aqmlab.live.vm.packages import program

LINK = "aqmlab-link"
MOST_BPS = 30e6
"""Above it the emulated processor, not the link, is the bottleneck."""


def run(
    plan: LivePlan,
    *,
    qdisc: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    image: Image | None = None,
    link_program: Path | None = None,
    module: KernelModule | None = None,
    change: Callable[[str], str] = str,
) -> PeerRun:
    """Do one run in virtual time; the same plan on the same image gives the same bytes.

    Parameters
    ----------
    plan
        The scenario for one seed.
    qdisc
        Words of ``tc`` for the discipline in place of the scenario's, e.g. ``"pie target 15ms"``.
    options
        How the set-up is varied; `in_userspace` puts the project's own link in the place of tc.
    image
        Default: the one that was built last.
    link_program
        ``aqmlab-link``; default: the one on the path.
    module
        A module compiled for the image's kernel, whose discipline is the bottleneck's.
    change
        Returns the job's script in another form.

    Raises
    ------
    InputError
        If something is missing, or Linux has nothing that corresponds to the plan.
    """
    own = IN_USERSPACE if options.in_userspace else None if module is None else module.qdisc
    setting = setting_of(plan, qdisc=qdisc if own is None else own)
    chosen = find() if image is None else image
    files: dict[str, archive.Entry] = {}
    if module is not None:
        options = replace(options, module=module.queue.module)
        files[f"job/{module.queue.module}.ko"] = archive.file(module.program)
    if options.in_userspace:
        files |= with_libraries(program(LINK) if link_program is None else link_program, f"usr/sbin/{LINK}")
        files["job/link.json"] = archive.file(text(configuration(setting)))
    told = boot(chosen, change(script(setting, options)), seed=plan.seed, files=files)
    system = {"kernel": str(chosen.manifest["kernel"]), "emulator": told.emulator, "image": chosen.folder.name}
    return PeerRun(setting, told.lines, system, options.ping_interval_s)


def compiled(queue: KernelQueue, image: Image, *, tell: Callable[[str], None] = print) -> KernelModule:
    """Write a queue's module, and compile it for an image's kernel.

    Raises
    ------
    InputError
        As of `headers` and of `module.make`.
    """
    return modules.compiled(queue, headers(image.release, tell=tell))
