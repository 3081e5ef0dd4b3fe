! An error handler written in Fortran, and a data representation: routines of the caller that the library calls.
! The anchors do not call conversion functions, hence an expected output.
module callbacks
  use mpi
  implicit none
  integer :: calls = 0, last_class = 0
contains
  subroutine handle(file, code)
    integer :: file, code, ierr
    calls = calls + 1
    call MPI_Error_class(code, last_class, ierr)
  end subroutine handle

  subroutine inverted(userbuf, datatype, count, filebuf, position, extra_state, ierr)
    integer :: userbuf(*), filebuf(*), datatype, count, ierr
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: i
    do i = 1, count
      userbuf(position + i) = not(filebuf(i))
    end do
    ierr = MPI_SUCCESS
  end subroutine inverted

  subroutine invert(userbuf, datatype, count, filebuf, position, extra_state, ierr)
    integer :: userbuf(*), filebuf(*), datatype, count, ierr
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: i
    do i = 1, count
      filebuf(i) = not(userbuf(position + i))
    end do
    ierr = MPI_SUCCESS
  end subroutine invert

  subroutine same_extent(datatype, extent, extra_state, ierr)
    integer :: datatype, ierr
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state, lb
    call MPI_Type_get_extent(datatype, lb, extent, ierr)
  end subroutine same_extent
end module callbacks

program fortran_handler
  use mpi
  use callbacks
  implicit none
  integer :: ierr, rank, fh, handler, data(10), back(10), raw(10), i, good, all_good
  integer(kind=MPI_OFFSET_KIND) :: offset
  integer(kind=MPI_ADDRESS_KIND) :: state
  character(len=512) :: directory

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, directory)
  call MPI_File_open(MPI_COMM_WORLD, trim(directory)//'/fortran_handler', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                     MPI_INFO_NULL, fh, ierr)
  call MPI_File_create_errhandler(handle, handler, ierr)
  call MPI_File_set_errhandler(fh, handler, ierr)
  call MPI_Errhandler_free(handler, ierr)
  offset = -1
  call MPI_File_read_at(fh, offset, back, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  good = merge(1, 0, calls == 1 .and. last_class == MPI_ERR_ARG .and. ierr /= MPI_SUCCESS)
  call report('error handler called')

  state = 0
  data = [(10 * rank + i, i = 1, 10)]
  offset = 10 * rank
  call MPI_Register_datarep('inverted', inverted, invert, same_extent, state, ierr)
  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'inverted', MPI_INFO_NULL, ierr)
  call MPI_File_write_at_all(fh, offset, data, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at_all(fh, offset, back, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_read_at_all(fh, offset, raw, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  good = merge(1, 0, all(back == data) .and. all(raw == not(data)))
  call report('conversion functions called')
  call MPI_File_close(fh, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine report(words)
    character(len=*), intent(in) :: words
    call MPI_Reduce(good, all_good, 1, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a,a)', words, merge(': yes', ': no ', all_good == 1)
  end subroutine report
end program fortran_handler
