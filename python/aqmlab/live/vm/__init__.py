"""A Debian kernel with its own queue disciplines, emulated in virtual time: the same run gives the same bytes.

* `machine`: the emulator; `backend` runs a job of `aqmlab.live.tc` in it
* `build`, `packages`, `archive`: the image; `guest/init` is its first process
"""
