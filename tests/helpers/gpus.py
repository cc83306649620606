"""Whether there is a CUDA GPU to test on."""


def have_gpu():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no package, no driver, no array: all the same here
        return False
